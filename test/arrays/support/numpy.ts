import { spawn, spawnSync } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { blockOver } from '../../../src/arrays/blocks/block.ts'
import { DTYPES, type DTypeName } from '../../../src/arrays/types/dtype.ts'
import { rowMajorElements } from './blocks.ts'

const hasNumpy = (python: string): boolean =>
  spawnSync(python, ['-c', 'import numpy'], { stdio: 'ignore' }).status === 0

const pythons = [process.env['AETHER_PYTHON'] ?? 'python3', '/usr/bin/python3']
/** The first that has NumPy: that of Debian's package may not be the first on PATH. */
const PYTHON = pythons.find(hasNumpy)

/** The reason to skip tests that ask NumPy, for `test(name, { skip: withoutNumpy }, …)`; false where NumPy is there. */
export const withoutNumpy: string | false = PYTHON === undefined ? `${pythons.join(' and ')} have no numpy` : false

/** What NumPy raised: `type` is the name of Python's exception, `text` its words. */
export class NumpyError extends Error {
  readonly type: string
  readonly text: string

  constructor(type: string, text: string) {
    super(`NumPy raised ${type}: ${text}`)
    this.type = type
    this.text = text
  }
}

/**
 * A frame in both directions is the length of its head in 4 bytes, the head as JSON, and the elements of its blocks one
 * after another in row-major order.
 */
const SERVER = `
import ast, json, struct, sys, warnings
import numpy as np
warnings.simplefilter('ignore')
np.seterr(all='ignore')
read, write = sys.stdin.buffer.read, sys.stdout.buffer.write

def evaluate(text, names):
    tree = ast.parse(text.strip())
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, 'call', 'exec'), names)
    return eval(compile(last, 'call', 'eval'), names)

def packed(value):
    array = np.array(value, order='C', copy=True)
    return array.astype(array.dtype.newbyteorder('='))

while head := read(4):
    call = json.loads(read(struct.unpack('<I', head)[0]))
    names = {'np': np}
    for letter, block in zip('abcdefghijklmnopq', call['blocks']):
        flat = np.frombuffer(bytearray(read(block['bytes'])), dtype=block['dtype'])
        names[letter] = flat.reshape(block['shape'])
    try:
        results = evaluate(call['expression'], names)
        arrays = [packed(r) for r in (results if isinstance(results, (tuple, list)) else [results])]
        reply = {'blocks': [{'dtype': a.dtype.name, 'shape': a.shape, 'bytes': a.nbytes} for a in arrays]}
    except Exception as error:
        arrays = []
        reply = {'type': type(error).__name__, 'text': str(error), 'blocks': []}
    text = json.dumps(reply).encode()
    write(struct.pack('<I', len(text)) + text + b''.join(a.tobytes() for a in arrays))
    sys.stdout.buffer.flush()
`

interface Head {
  readonly type?: string
  readonly text?: string
  readonly blocks: readonly { readonly dtype: string; readonly shape: number[]; readonly bytes: number }[]
}

/** NumPy in a process of its own. Calls are answered in order. */
export interface Numpy {
  /**
   * What Python makes of an expression in which `np` is NumPy and `a`, `b`, `c`, … are the given blocks. Lines before
   * the expression may be statements. A tuple or list gives several blocks, all else one. Throws NumpyError.
   */
  call(expression: string, blocks?: readonly Block[]): Promise<Block[]>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startNumpy(): Promise<Numpy> {
  if (PYTHON === undefined) throw new Error(`${withoutNumpy}`)
  const child = spawn(PYTHON, ['-c', SERVER], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const input = child.stdin
  input.on('error', () => {}) // a process that ended is told by the reader, with a better word
  const read = reader(child.stdout)
  let last: Promise<unknown> = Promise.resolve()
  return {
    call(expression, blocks = []) {
      const parts = blocks.map((block) => bytesOf(rowMajorElements(block)))
      const head = Buffer.from(
        JSON.stringify({
          expression,
          blocks: blocks.map(({ dtype, shape }, i) => ({ dtype: dtype.name, shape, bytes: parts[i]!.byteLength })),
        }),
      )
      const length = Buffer.alloc(4)
      length.writeUInt32LE(head.byteLength)
      for (const part of [length, head, ...parts]) if (part.byteLength > 0) input.write(part)
      const answer = last.catch(() => {}).then(() => receive(read))
      last = answer
      return answer
    },
    async [Symbol.asyncDispose]() {
      input.end()
      await ended
    },
  }
}

async function receive(read: (length: number) => Promise<Uint8Array<ArrayBuffer>>): Promise<Block[]> {
  const length = new DataView((await read(4)).buffer).getUint32(0, true)
  const head = JSON.parse(Buffer.from(await read(length)).toString()) as Head
  if (head.type !== undefined) throw new NumpyError(head.type, head.text ?? '')
  const blocks: Block[] = []
  for (const { dtype: name, shape, bytes } of head.blocks) {
    const elements = await read(bytes)
    const dtype = DTYPES[name as DTypeName]
    if (dtype === undefined) throw new TypeError(`NumPy gave ${name}, which arrays do not have: use .astype(…)`)
    blocks.push(blockOver(new dtype.Elements(elements.buffer), dtype, shape))
  }
  return blocks
}

function bytesOf(elements: ArrayBufferView): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength)
}

/** Reads exactly as many bytes of a stream as asked for, into memory of their own. */
function reader(stream: Readable): (length: number) => Promise<Uint8Array<ArrayBuffer>> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest: Uint8Array = new Uint8Array(0)
  return async (length) => {
    const bytes = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      if (rest.byteLength === 0) {
        const { value, done } = await chunks.next()
        if (done) throw new Error('the process with NumPy ended: its last words are above')
        rest = value
      }
      const part = rest.subarray(0, length - filled)
      bytes.set(part, filled)
      filled += part.byteLength
      rest = rest.subarray(part.byteLength)
    }
    return bytes
  }
}

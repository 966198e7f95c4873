import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import { AetherError } from 'aether-dsm/internal/native'
import { endProcesses } from '../end-processes.ts'

/** Reads orders as lines of JSON and answers with times of single operations in nanoseconds. */
const PROGRAM = `
import json, sys, time
import numpy as np
np.seterr(all='ignore')
print(json.dumps({'version': np.__version__}), flush=True)
known = None
for line in sys.stdin:
    order = json.loads(line)
    name = (order['before'], order['timed'], order['elements'])
    if name != known:
        run, names = None, {'np': np, 'n': order['elements']}
        exec(order['before'], names)
        exec('def run(count):\\n    for _ in range(count): ' + order['timed'], names)
        run, known = names['run'], name
    ns, batch = [], order['batch']
    for _ in range(order['samples']):
        began = time.perf_counter_ns()
        run(batch)
        ns.append((time.perf_counter_ns() - began) / batch)
    print(json.dumps({'ns': ns}), flush=True)
`

/** One measurement by NumPy: statements before, and an expression. */
export interface NumpyOrder {
  readonly before: string
  readonly timed: string
  readonly elements: number
  readonly samples: number
  readonly batch: number
}

/** Python with NumPy, in a process of its own. */
export class NumpyProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #reader: Interface
  /** How rows call it, with its version. */
  provider = 'NumPy'

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#reader = createInterface({ input: child.stdout! })
    this.#lines = this.#reader[Symbol.asyncIterator]()
  }

  /** @throws AetherError where there is no Python with NumPy. */
  static async start(threads: number): Promise<NumpyProcess> {
    // That of Debian's package may not be the first on PATH.
    const pythons = [process.env['AETHER_PYTHON'] ?? 'python3', '/usr/bin/python3']
    const python = pythons.find((each) => spawnSync(each, ['-c', 'import numpy'], { stdio: 'ignore' }).status === 0)
    if (python === undefined)
      throw new AetherError('ERR_AETHER_BENCH', 'python3 has no numpy (on Debian: apt-get install python3-numpy)')
    // What its library for matrices heeds.
    const names = ['OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS']
    const env = { ...process.env, ...Object.fromEntries(names.map((name) => [name, String(threads)])) }
    const numpy = new NumpyProcess(spawn(python, ['-c', PROGRAM], { env, stdio: ['pipe', 'pipe', 'inherit'] }))
    const { version } = await numpy.#next<{ version: string }>()
    numpy.provider = `NumPy ${version}`
    return numpy
  }

  /** Nanoseconds of an operation, for each sample. */
  async measure(order: NumpyOrder): Promise<readonly number[]> {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`)
    return (await this.#next<{ ns: readonly number[] }>()).ns
  }

  async #next<Answer>(): Promise<Answer> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new AetherError('ERR_AETHER_BENCH', 'Python ended; what it complained of stands above')
    return JSON.parse(value) as Answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reader.close()
    await endProcesses([this.#child])
  }
}

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { EdgeLine, LineKind } from './edge-line.ts'
import type { EdgeSet } from './edge-set.ts'
import { GraphError } from './graph-error.ts'
import { GrowableColumn } from './growable-column.ts'
import { VertexNumbering } from './vertex-numbering.ts'

const newline = 0x0a
const chunkBytes = 1 << 20
/** A longer line is not an edge; without a bound a binary file would be read whole into one line. */
const lineBytesMax = 4096
const shownBytesMax = 80

/**
 * Read a SNAP edge list (https://snap.stanford.edu/data/): lines of `# comment` or of two integers, the source and the
 * target of an edge. Any ids; they are renumbered in the order of appearance. A name that ends in `.gz` is decompressed
 * on the way, as SNAP serves them.
 *
 * @throws GraphError with file, line number and text for a malformed line; for a missing, unreadable or empty file; for
 * a directory.
 */
export async function readEdgeList(file: string): Promise<EdgeSet> {
  await checkGraphFile(file)
  const builder = new EdgeListBuilder(file)
  try {
    for await (const chunk of openChunks(file)) builder.add(chunk as Buffer)
  } catch (cause) {
    if (cause instanceof GraphError) throw cause
    throw new GraphError(`cannot be read: ${(cause as Error).message}`, { file }, { cause })
  }
  return builder.finish()
}

/** Lines across chunk borders, and the columns they fill. */
class EdgeListBuilder {
  readonly #file: string
  readonly #line = new EdgeLine()
  readonly #numbering = new VertexNumbering()
  readonly #from = new GrowableColumn()
  readonly #to = new GrowableColumn()
  #lineNumber = 0
  #rest: Buffer = Buffer.alloc(0)

  constructor(file: string) {
    this.#file = file
  }

  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      this.#addLine(bytes, start, end)
      start = end + 1
    }
    this.#rest = bytes.subarray(start)
    if (this.#rest.length > lineBytesMax) this.#addLine(this.#rest, 0, this.#rest.length)
  }

  finish(): EdgeSet {
    if (this.#rest.length > 0) this.#addLine(this.#rest, 0, this.#rest.length)
    if (this.#from.length === 0) throw new GraphError('has no edges', { file: this.#file })
    const numbering = this.#numbering
    return {
      name: basename(this.#file),
      vertexCount: numbering.count,
      from: this.#from.view(),
      to: this.#to.view(),
      describe: (vertex) => ({
        name: `vertex ${numbering.idOf(vertex)}`,
        gloss: '',
      }),
    }
  }

  #addLine(bytes: Buffer, start: number, end: number): void {
    this.#lineNumber += 1
    const tooLong = end - start > lineBytesMax
    const kind = tooLong ? `longer than ${lineBytesMax} bytes` : this.#line.parse(bytes, start, end)
    if (kind === LineKind.Blank) return
    if (kind !== LineKind.Edge) throw this.#malformed(kind, bytes.subarray(start, end))
    this.#from.push(this.#numbering.numberOf(this.#line.from))
    this.#to.push(this.#numbering.numberOf(this.#line.to))
  }

  #malformed(reason: string, bytes: Buffer): GraphError {
    const shown = bytes.subarray(0, shownBytesMax).toString('utf8')
    const text = bytes.length > shownBytesMax ? `${shown}…` : shown
    return new GraphError(reason, {
      file: this.#file,
      line: this.#lineNumber,
      text,
    })
  }
}

/** Whether there is such a file at all. @throws GraphError. */
export async function checkGraphFile(file: string): Promise<void> {
  const description = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : `cannot be read: ${cause.message}`
    throw new GraphError(reason, { file }, { cause })
  })
  if (description.isDirectory()) throw new GraphError('is a directory; give the edge list in it', { file })
}

function openChunks(file: string): AsyncIterable<unknown> {
  const bytes = createReadStream(file, { highWaterMark: chunkBytes })
  if (!file.endsWith('.gz')) return bytes
  const plain = createGunzip({ chunkSize: chunkBytes })
  // pipe() does not forward errors; without this a failing disk would leave the reader waiting for ever.
  bytes.on('error', (error) => plain.destroy(error))
  return bytes.pipe(plain)
}

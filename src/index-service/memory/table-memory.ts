import { type Chunk, openChunk } from './chunk.ts'
import { CHUNK_BYTES, CHUNK_SHIFT, CHUNKS_MAX, HeaderWord, UNIT_BYTES, UNIT_MASK } from './layout.ts'

/** Bytes of a table, from a place on. */
export interface TablePart {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
  /** Of its first byte. */
  readonly place: number
}

/**
 * How a {@link TableReader} comes to the bytes of a table: mapped, or fetched. What it asks for was read in the order
 * in which it asks, after the header `before`, and before the header `after`.
 */
export interface TableMemory {
  /** The first words of the table. Those of mapped memory change meanwhile. */
  readonly before: Uint32Array
  readonly after: Uint32Array
  /** How often it is worth to look again after a change. */
  readonly tries: number
  /** Undefined if there is no such place, or nothing of it is here. It may be fetched then. */
  part(place: number, lengthBytes: number): TablePart | undefined
  /** The same, as it was after all that was asked for before. */
  again(place: number, lengthBytes: number): TablePart | undefined
}

/** A table that changes faster than it is read is asked for by other means. */
const TRIES_MAX = 64

/** The memory of a table of another process of this machine. */
export class MappedTable implements TableMemory {
  readonly processId: number
  readonly before: Uint32Array
  readonly after: Uint32Array
  readonly tries: number = TRIES_MAX
  readonly #chunks: Chunk[]

  private constructor(processId: number, header: Chunk) {
    this.processId = processId
    this.#chunks = [header]
    this.before = header.words
    this.after = header.words
  }

  /** Undefined if it cannot be reached from here. */
  static open(processId: number, descriptor: number): MappedTable | undefined {
    const header = openChunk(processId, descriptor)
    return header && new MappedTable(processId, header)
  }

  part(place: number, lengthBytes: number): Chunk | undefined {
    const number = place >>> CHUNK_SHIFT
    if ((place & UNIT_MASK) * UNIT_BYTES + lengthBytes > CHUNK_BYTES) return undefined
    return this.#chunks[number] ?? this.#open(number)
  }

  again(place: number, lengthBytes: number): Chunk | undefined {
    return this.part(place, lengthBytes)
  }

  close(): void {
    for (const chunk of this.#chunks) chunk.close()
  }

  #open(number: number): Chunk | undefined {
    const words = this.before
    if (number >= Math.min(Atomics.load(words, HeaderWord.Chunks), CHUNKS_MAX)) return undefined
    while (this.#chunks.length <= number) {
      const chunk = openChunk(this.processId, words[HeaderWord.Descriptors + this.#chunks.length]!, this.#chunks.length)
      if (chunk === undefined) return undefined
      this.#chunks.push(chunk)
    }
    return this.#chunks[number]
  }
}

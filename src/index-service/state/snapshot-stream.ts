import { Buffer } from 'node:buffer'
import { latin1Of } from '../values/latin1.ts'

const CHUNK_BYTES = 65_536
const NOTHING = new Uint8Array()

/** Writes a snapshot as a stream of bytes that is cut into chunks. Numbers are little-endian. */
export class SnapshotWriter {
  #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #length = 0
  #full: Uint8Array[] = []
  /** In chunks that are full. */
  #fullBytes = 0

  /** How many bytes were written. */
  get lengthBytes(): number {
    return this.#fullBytes + this.#length
  }

  /** A whole number of at most 2^53. */
  count(value: number): void {
    let left = value
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.u8((left % 0x80) | 0x80)
    this.u8(left)
  }

  u8(value: number): void {
    if (this.#length === CHUNK_BYTES) this.#next()
    this.#chunk[this.#length++] = value
  }

  f64(value: number): void {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeDoubleLE(value)
    this.append(bytes)
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length)
    this.append(bytes)
  }

  text(latin1: string): void {
    this.count(latin1.length)
    if (this.#length + latin1.length > CHUNK_BYTES) this.append(Buffer.from(latin1, 'latin1'))
    else this.#length += this.#chunk.write(latin1, this.#length, 'latin1')
  }

  /** Where the next bytes go: see {@link filled}. */
  get room(): Uint8Array {
    return this.#chunk.subarray(this.#length)
  }

  /** Bytes were written to the {@link room}. */
  filled(lengthBytes: number): void {
    this.#length += lengthBytes
  }

  /** The next bytes go to another chunk. False if there is nothing in this one. */
  cut(): boolean {
    if (this.#length === 0) return false
    this.#next()
    return true
  }

  /** Chunks that are full: they are the caller's. */
  takeFull(): Uint8Array[] {
    const full = this.#full
    this.#full = []
    return full
  }

  /** All that is left. */
  takeAll(): Uint8Array[] {
    if (this.#length > 0) this.#next()
    return this.takeFull()
  }

  /** As they are. */
  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#length === CHUNK_BYTES) this.#next()
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#length)
      this.#chunk.set(part, this.#length)
      this.#length += part.length
      at += part.length
    }
  }

  #next(): void {
    this.#full.push(this.#chunk.subarray(0, this.#length))
    this.#fullBytes += this.#length
    this.#chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    this.#length = 0
  }
}

/** Reads what a {@link SnapshotWriter} wrote. A RangeError says that there is less. */
export class SnapshotReader {
  readonly #chunks: readonly Uint8Array[]
  #number = 0
  #at = 0
  /** In chunks behind this one. */
  #behindBytes: number

  constructor(chunks: readonly Uint8Array[]) {
    this.#chunks = chunks
    this.#behindBytes = chunks.slice(1).reduce((sum, { length }) => sum + length, 0)
  }

  count(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      if (scale > 2 ** 53) throw new RangeError('a number of the snapshot does not end')
    }
  }

  u8(): number {
    return this.#chunk()[this.#at++]!
  }

  f64(): number {
    return Buffer.from(this.#take(8)).readDoubleLE()
  }

  /** What is left of the chunk with the next byte: a view. Nothing at the end. See {@link skip}. */
  get part(): Uint8Array {
    return this.left === 0 ? NOTHING : this.#chunk().subarray(this.#at)
  }

  /** The first bytes of the {@link part} were read. */
  skip(lengthBytes: number): void {
    this.#at += lengthBytes
  }

  /** Reads on from here by itself. */
  copy(): SnapshotReader {
    const copy = new SnapshotReader(this.#chunks)
    copy.#number = this.#number
    copy.#at = this.#at
    copy.#behindBytes = this.#behindBytes
    return copy
  }

  /** One that is neither NaN nor infinite. */
  finite(): number {
    const value = this.f64()
    if (!Number.isFinite(value)) throw new RangeError('a number of the snapshot is not finite')
    return value
  }

  /** A copy. */
  bytes(): Uint8Array {
    return this.#take(this.count())
  }

  text(): string {
    return latin1Of(this.bytes())
  }

  #take(lengthBytes: number): Uint8Array {
    if (lengthBytes > this.left) throw new RangeError(`${lengthBytes} bytes of the snapshot are not there`)
    const bytes = new Uint8Array(lengthBytes)
    for (let done = 0; done < lengthBytes; ) {
      const part = this.#chunk().subarray(this.#at, this.#at + lengthBytes - done)
      bytes.set(part, done)
      done += part.length
      this.#at += part.length
    }
    return bytes
  }

  /** How many bytes there are. */
  get left(): number {
    return (this.#chunks[this.#number]?.length ?? 0) - this.#at + this.#behindBytes
  }

  /** The chunk with the next byte. */
  #chunk(): Uint8Array {
    for (;;) {
      const chunk = this.#chunks[this.#number]
      if (chunk === undefined) throw new RangeError('the snapshot is cut off')
      if (this.#at < chunk.length) return chunk
      this.#number += 1
      this.#at = 0
      this.#behindBytes -= this.#chunks[this.#number]?.length ?? 0
    }
  }
}

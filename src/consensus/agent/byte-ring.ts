/**
 * Records from one thread to another, in a SharedArrayBuffer. Each side has one thread.
 *
 * ```
 * Int32  [0] written  [16] read  [32] the reader sleeps
 * bytes from 256 on: length u32, kind u32, the record, padded to 8 bytes
 * ```
 *
 * Both counters are of bytes, and only grow (modulo 2^32). A record lies in one piece: what is left at the end is
 * skipped by a record of the kind 0xffffffff.
 */
const WRITTEN = 0
const READ = 16
const ASLEEP = 32
const DATA_OFFSET = 256
const HEAD_BYTES = 8
const SKIP = 0xffffffff

export class ByteRing {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #view: DataView
  readonly #bytes: Uint8Array
  readonly #size: number

  /** `size`: a power of two, in bytes. */
  constructor(buffer: SharedArrayBuffer | number) {
    this.buffer = typeof buffer === 'number' ? new SharedArrayBuffer(DATA_OFFSET + buffer) : buffer
    this.#words = new Int32Array(this.buffer, 0, DATA_OFFSET / 4)
    this.#size = this.buffer.byteLength - DATA_OFFSET
    this.#view = new DataView(this.buffer, DATA_OFFSET)
    this.#bytes = new Uint8Array(this.buffer, DATA_OFFSET)
  }

  /** The longest record. */
  get recordBytesMax(): number {
    return this.#size / 4
  }

  get isEmpty(): boolean {
    return Atomics.load(this.#words, WRITTEN) === Atomics.load(this.#words, READ)
  }

  /** How far the reader has come. */
  get position(): number {
    return Atomics.load(this.#words, READ)
  }

  /** Add a record of some parts, one behind the other. False if there is no room. */
  push(kind: number, ...parts: readonly Uint8Array[]): boolean {
    let length = 0
    for (const part of parts) length += part.length
    const taken = HEAD_BYTES + Math.ceil(length / 8) * 8
    const written = Atomics.load(this.#words, WRITTEN)
    const used = (written - Atomics.load(this.#words, READ)) | 0
    const at = (written >>> 0) % this.#size
    const skipped = at + taken > this.#size ? this.#size - at : 0
    if (used + skipped + taken > this.#size) return false
    if (skipped > 0) this.#view.setUint32(at + 4, SKIP, true)
    let offset = skipped > 0 ? 0 : at
    this.#view.setUint32(offset, length, true)
    this.#view.setUint32(offset + 4, kind, true)
    offset += HEAD_BYTES
    for (const part of parts) {
      this.#bytes.set(part, offset)
      offset += part.length
    }
    Atomics.store(this.#words, WRITTEN, (written + skipped + taken) | 0)
    return true
  }

  /** Hand records to `take` until there is none, or it returns false; that one stays. True if there was any. */
  drain(take: (kind: number, bytes: Uint8Array) => boolean): boolean {
    let read = Atomics.load(this.#words, READ)
    let any = false
    while (read !== Atomics.load(this.#words, WRITTEN)) {
      const at = (read >>> 0) % this.#size
      const kind = this.#view.getUint32(at + 4, true)
      if (kind === SKIP) read = (read + this.#size - at) | 0
      else {
        const length = this.#view.getUint32(at, true)
        if (!take(kind, this.#bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length))) break
        read = (read + HEAD_BYTES + Math.ceil(length / 8) * 8) | 0
        any = true
      }
      Atomics.store(this.#words, READ, read)
    }
    return any
  }

  /** The reader is about to sleep: false if there is something after all. */
  sleep(): boolean {
    Atomics.store(this.#words, ASLEEP, 1)
    if (this.isEmpty) return true
    Atomics.store(this.#words, ASLEEP, 0)
    return false
  }

  /** The writer has added something: true if the reader sleeps and has to be woken. Only one caller is told so. */
  mustWake(): boolean {
    return Atomics.load(this.#words, ASLEEP) === 1 && Atomics.exchange(this.#words, ASLEEP, 0) === 1
  }
}

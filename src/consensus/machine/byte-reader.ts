/** The 48-bit number at `at`. */
export function u48At(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint16(at + 4, true) * 2 ** 32
}

/** Reads what a `ByteWriter` wrote. A RangeError says that there is less. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  u48(): number {
    return u48At(this.#view, this.#skip(6))
  }

  f64(): number {
    return this.#view.getFloat64(this.#skip(8), true)
  }

  /** A copy of the next bytes. */
  take(lengthBytes: number): Uint8Array {
    const at = this.#skip(lengthBytes)
    if (this.#at > this.#bytes.length) throw new RangeError(`${lengthBytes} bytes are not there`)
    return Uint8Array.prototype.slice.call(this.#bytes, at, this.#at)
  }

  #skip(lengthBytes: number): number {
    const at = this.#at
    this.#at = at + lengthBytes
    return at
  }
}

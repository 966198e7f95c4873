/** Appends little-endian numbers and bytes to one buffer, which grows and is used again. */
export class ByteWriter {
  #bytes = new Uint8Array(1024)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get lengthBytes(): number {
    return this.#length
  }

  reset(): void {
    this.#length = 0
  }

  /** What was written. Valid until something else is. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  u8(value: number): void {
    const at = this.#take(1)
    this.#view.setUint8(at, value)
  }

  u32(value: number): void {
    const at = this.#take(4)
    this.#view.setUint32(at, value, true)
  }

  u48(value: number): void {
    const at = this.#take(6)
    this.#view.setUint32(at, value % 2 ** 32, true)
    this.#view.setUint16(at + 4, value / 2 ** 32, true)
  }

  f64(value: number): void {
    const at = this.#take(8)
    this.#view.setFloat64(at, value, true)
  }

  append(bytes: Uint8Array): void {
    const at = this.#take(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** Returns where the next `lengthBytes` bytes go. It may replace the buffer, so call it before you look at that. */
  #take(lengthBytes: number): number {
    const at = this.#length
    this.#length = at + lengthBytes
    if (this.#length > this.#bytes.length) this.#grow()
    return at
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length))
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}

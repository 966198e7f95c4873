/** Bytes of a frame's length, most significant first. */
const HEAD_BYTES = 4

/** A frame is longer than it may be. */
export class FrameTooLongError extends Error {
  override readonly name = 'FrameTooLongError'
}

/** `bytes` with their length in front. */
export function encodeFrame(bytes: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(bytes.length)
  return Buffer.concat([head, bytes])
}

/** Cuts a stream into frames. It keeps at most one frame of the greatest length, and what arrived with its end. */
export class FrameReader {
  /** The longest accepted frame, in bytes. */
  lengthMax: number
  readonly #chunks: Buffer[] = []
  #length = 0
  /** Length of the frame that has begun. */
  #wanted: number | undefined

  constructor(lengthMax: number) {
    this.lengthMax = lengthMax
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The next frame; undefined if it is not complete yet. @throws FrameTooLongError as soon as its length is known. */
  next(): Buffer | undefined {
    this.#wanted ??= this.#take(HEAD_BYTES)?.readUInt32BE(0)
    if (this.#wanted === undefined) return undefined
    if (this.#wanted > this.lengthMax)
      throw new FrameTooLongError(`a frame has ${this.#wanted} bytes, at most ${this.lengthMax} are allowed`)
    const frame = this.#take(this.#wanted)
    if (frame !== undefined) this.#wanted = undefined
    return frame
  }

  #take(length: number): Buffer | undefined {
    if (this.#length < length) return undefined
    const bytes = Buffer.concat(this.#chunks.splice(0))
    if (bytes.length > length) this.#chunks.push(bytes.subarray(length))
    this.#length = bytes.length - length
    return bytes.subarray(0, length)
  }
}

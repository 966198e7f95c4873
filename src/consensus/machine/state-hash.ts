import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

/**
 * A chain over all that was applied. Replicas that applied the same have the same value; once different, they stay so.
 *
 * Two lanes as in MurmurHash3 (Austin Appleby, public domain), which start from the last value and mix at the end. For
 * given bytes this is one to one, so no difference is ever lost. It finds mistakes; it stops no attacker.
 */
export class StateHash {
  #low = 0
  #high = 0

  /** 16 hexadecimal digits. */
  get value(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }

  /** In 32 bits. Two chains that differ are equal here once in 2^32 times. */
  get short(): number {
    return (this.#low ^ this.#high) >>> 0
  }

  /** Go on with the number of a command and the bytes of what it came to. */
  mix(number: number, bytes: Uint8Array): void {
    let low = lowLane(this.#low, number)
    let high = highLane(this.#high, number)
    const wholeBytes = bytes.length & ~3
    for (let at = 0; at < wholeBytes; at += 4) {
      const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      low = lowLane(low, word)
      high = highLane(high, word)
    }
    let tail = 0
    for (let at = bytes.length - 1; at >= wholeBytes; at -= 1) tail = (tail << 8) | bytes[at]!
    low = lowLane(low, tail) ^ bytes.length
    high = highLane(high, tail) ^ bytes.length
    low = finish((low + high) | 0)
    high = finish((high + low) | 0)
    this.#low = (low + high) | 0
    this.#high = (high + this.#low) | 0
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.#low)
    writer.u32(this.#high)
  }

  static decode(reader: ByteReader): StateHash {
    const hash = new StateHash()
    hash.#low = reader.u32() | 0
    hash.#high = reader.u32() | 0
    return hash
  }
}

function lowLane(hash: number, word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51)
  const value = hash ^ Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
  return (Math.imul((value << 13) | (value >>> 19), 5) + 0xe6546b64) | 0
}

function highLane(hash: number, word: number): number {
  const mixed = Math.imul(word, 0x239b961b)
  const value = hash ^ Math.imul((mixed << 16) | (mixed >>> 16), 0xab0e9789)
  return (Math.imul((value << 17) | (value >>> 15), 5) + 0x561ccd1b) | 0
}

function finish(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

import type { Random } from '../../src/runtime/index.ts'
import { ControlKind, control, encodeSegment, fetchAdd, Op, type Remote, readRequest, type Segment } from './iwarp.ts'

const BIGGEST_PAYLOAD = 65_535 - 18
/** One frame in so many is wrong on purpose; the others are right, though strange. */
const WRONG_ONE_IN = 25

const edges32 = [0, 1, 2, 3, 4, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff]
const edges64 = [0n, 1n, 7n, 8n, (1n << 31n) - 1n, 1n << 32n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n]
const lengths = [0, 1, 2, 3, 4, 13, 14, 17, 18, 19, 28, 52, 63, 64, 65, 255, 4095, 4096, 16_383, 16_384, 61_440]

/** Memory that the frames may name, and its length. */
export interface FuzzedMemory extends Remote {
  readonly length: number
}

export interface FrameFuzzerOptions {
  readonly crc: boolean
  /** Only kinds that are in the standards. */
  readonly foreign?: boolean
}

/** Frames by a seed: of all kinds, at the limits of each field, and some with what no device would send. */
export class FrameFuzzer {
  readonly #random: Random
  readonly #memory: FuzzedMemory
  readonly #crc: boolean
  readonly #foreign: boolean
  #sends = 0

  constructor(random: Random, memory: FuzzedMemory, { crc, foreign = false }: FrameFuzzerOptions) {
    this.#random = random
    this.#memory = memory
    this.#crc = crc
    this.#foreign = foreign
  }

  /** The bytes of one stream, and how many frames these are. */
  conversation(framesMost: number): { readonly bytes: Buffer; readonly frames: number } {
    this.#sends = 0
    const frames = 1 + this.#random.below(framesMost)
    const encoded = Array.from({ length: frames }, () => this.#frame())
    const bytes = Buffer.concat(encoded)
    // Some end in the middle of a frame.
    const end = this.#oneIn(10) ? this.#random.below(bytes.length) : bytes.length
    return { bytes: bytes.subarray(0, end), frames }
  }

  #frame(): Buffer {
    const right = this.#right()
    if (!this.#oneIn(WRONG_ONE_IN)) return encodeSegment(right, this.#crc)
    if (this.#oneIn(3)) return this.#damaged(encodeSegment(right, this.#crc))
    const wrong = this.#wrong(right)
    // Rightly signed, so that what is wrong in it is looked at.
    return encodeSegment(wrong, this.#crc)
  }

  #right(): Segment {
    const kinds = this.#foreign ? [...this.#standard] : [...this.#standard, ...this.#own]
    return this.#one(kinds)()
  }

  readonly #standard: readonly (() => Segment)[] = [
    () => this.#write(),
    () => this.#write(),
    () => this.#read(),
    () => this.#send(),
    () => this.#answer(),
  ]

  readonly #own: readonly (() => Segment)[] = [
    () => fetchAdd(this.#random.below(8), this.#within(8, 8), 1n),
    () => ({ op: this.#one([Op.Immediate, Op.ImmediateSolicited]), payload: Buffer.alloc(8, 1) }),
    () => control(ControlKind.Taken, this.#random.below(5)),
    () => control(ControlKind.Wait, this.#random.below(5), BigInt(this.#random.below(32))),
    () => control(ControlKind.Resume, this.#random.below(5)),
  ]

  #write(): Segment {
    const payload = Buffer.alloc(this.#length(this.#memory.length), 0x77)
    const { address } = this.#within(payload.length, 1)
    return { op: Op.Write, stag: this.#memory.key, offset: address, payload, last: !this.#oneIn(4) }
  }

  #read(): Segment {
    const length = this.#length(8192)
    return readRequest(this.#random.below(1000), length, this.#within(length, 1))
  }

  /** As long as there are receives, mostly. */
  #send(): Segment {
    if (++this.#sends > 12 && !this.#oneIn(20)) return this.#write()
    const op = this.#one(this.#foreign ? [Op.Send, Op.SendSolicited] : [Op.Send, Op.SendSolicited, Op.SendImmediate])
    return { op, message: this.#sends, payload: Buffer.alloc(this.#random.below(65), 0x66), last: true }
  }

  /** To a request that the target has under way, if that is what it still waits for. */
  #answer(): Segment {
    if (!this.#oneIn(10)) return this.#write()
    const payload = Buffer.alloc(8, 0x55)
    return { op: Op.ReadResponse, stag: 1, payload }
  }

  /** One or two of its fields are others. */
  #wrong(segment: Segment): Segment {
    let wrong = segment
    for (let count = 1 + this.#random.below(2); count > 0; count -= 1) wrong = this.#one(this.#changes)(wrong)
    return wrong
  }

  readonly #changes: readonly ((of: Segment) => Segment)[] = [
    (of) => ({ ...of, op: this.#random.below(16) }),
    (of) => ({ ...of, tagged: this.#oneIn(2) }),
    (of) => ({ ...of, last: of.last === false }),
    (of) => ({ ...of, stag: this.#one([...edges32, this.#memory.key ^ 1, this.#random.uint32()]) }),
    (of) => ({ ...of, offset: this.#one([...edges64, BigInt(this.#memory.address) + BigInt(this.#memory.length)]) }),
    (of) => ({ ...of, queue: this.#one([0, 1, 2, 3, 4, 5, 0xffff_ffff]) }),
    (of) => ({ ...of, message: this.#one(edges32) }),
    (of) => ({ ...of, ddpVersion: this.#random.below(4) }),
    (of) => ({ ...of, rdmapVersion: this.#random.below(4) }),
    (of) => ({ ...of, length: this.#one([...lengths, 65_535, this.#random.below(65_536)]) }),
    (of) => ({ ...of, payload: Buffer.alloc(this.#one([...lengths, BIGGEST_PAYLOAD]), this.#random.below(256)) }),
    (of) => ({ ...of, payload: this.#edged(Buffer.from(of.payload ?? [])) }),
  ]

  /** Numbers of the payload are at their limits: addresses, keys, lengths, counts. */
  #edged(payload: Buffer): Buffer {
    if (payload.length < 8) return payload
    const at = 4 * this.#random.below(Math.floor(payload.length / 4) - 1)
    if (this.#oneIn(2)) payload.writeUInt32BE(this.#one(edges32), at)
    else payload.writeBigUInt64BE(this.#one(edges64), at)
    return payload
  }

  #damaged(bytes: Buffer): Buffer {
    for (let count = 1 + this.#random.below(4); count > 0; count -= 1)
      bytes[this.#random.below(this.#oneIn(2) ? Math.min(20, bytes.length) : bytes.length)] = this.#random.below(256)
    return this.#oneIn(4) ? bytes.subarray(0, this.#random.below(bytes.length)) : bytes
  }

  #within(length: number, alignment: number): Remote {
    const room = Math.floor((this.#memory.length - length) / alignment)
    const offset = alignment * this.#random.below(Math.max(room, 0) + 1)
    return { address: Number(this.#memory.address) + offset, key: this.#memory.key }
  }

  #length(most: number): number {
    const length = this.#oneIn(3) ? this.#one(lengths) : this.#random.below(256)
    return Math.min(length, most)
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#random.below(of.length)]!
  }

  #oneIn(count: number): boolean {
    return this.#random.below(count) === 0
  }
}

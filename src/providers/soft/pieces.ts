import { type EncodedRequest, RequestSlot, segmentSlot } from '../encoded-request.ts'

/** The doubles of a piece of an indirect key: address, length, bytes to skip, key. */
const PieceDouble = { Address: 0, Length: 1, Skip: 2, Key: 3 } as const
export const PIECE_DOUBLES = 4
export const MAX_PIECES = 4096
const MAX_REPEAT: number = 2 ** 31 - 1

/**
 * The pieces of an indirect key: all in turn, `repeat` times. Each round moves a piece on by its length and its skip.
 */
export class Pieces {
  /** PIECE_DOUBLES for each piece. */
  readonly doubles: Float64Array
  readonly count: number
  readonly repeat: number
  /** The bytes of one round. */
  readonly roundBytes: number

  constructor(doubles: Float64Array, count: number, repeat: number) {
    this.doubles = doubles
    this.count = count
    this.repeat = repeat
    let total = 0
    for (let index = 0; index < count; index += 1) total += doubles[index * PIECE_DOUBLES + PieceDouble.Length]!
    this.roundBytes = total
  }

  get totalBytes(): number {
    return this.roundBytes * this.repeat
  }

  /** False if a number is impossible. The numbers may come from another process. */
  get plausible(): boolean {
    for (let index = 0; index < this.count; index += 1) {
      const at = index * PIECE_DOUBLES
      const length = this.doubles[at + PieceDouble.Length]!
      const stride = length + this.doubles[at + PieceDouble.Skip]!
      const end = this.doubles[at + PieceDouble.Address]! + stride * this.repeat
      if (!(Number.isSafeInteger(length) && Number.isSafeInteger(stride) && Number.isSafeInteger(end))) return false
      if (length < 1 || stride < length || this.doubles[at + PieceDouble.Address]! < 0) return false
    }
    return Number.isSafeInteger(this.totalBytes)
  }

  /**
   * Call `take` with each run of the `length` bytes from `offset` on. Returns false as soon as `take` does, or if there
   * are fewer bytes.
   */
  walk(offset: number, length: number, take: (address: number, length: number, key: number) => boolean): boolean {
    let within = offset % this.roundBytes
    let left = length
    for (let round = Math.floor(offset / this.roundBytes); round < this.repeat && left > 0; round += 1) {
      for (let at = 0; at < this.count * PIECE_DOUBLES && left > 0; at += PIECE_DOUBLES) {
        const bytes = this.doubles[at + PieceDouble.Length]!
        if (within >= bytes) {
          within -= bytes
          continue
        }
        const run = Math.min(bytes - within, left)
        const stride = bytes + this.doubles[at + PieceDouble.Skip]!
        const address = this.doubles[at + PieceDouble.Address]! + round * stride + within
        if (!take(address, run, this.doubles[at + PieceDouble.Key]!)) return false
        left -= run
        within = 0
      }
    }
    return left === 0
  }
}

/** The layout that a ConfigureIndirectKey request asks for; undefined if it is impossible. */
export function piecesOf(request: EncodedRequest, maxPieces: number): Pieces | undefined {
  const { words } = request
  const count = words[RequestSlot.SegmentCount]!
  const repeat = words[RequestSlot.RepeatCount]!
  if (count < 1 || count > maxPieces || repeat > MAX_REPEAT) return undefined
  const doubles = new Float64Array(count * PIECE_DOUBLES)
  for (let index = 0; index < count; index += 1) {
    const from = segmentSlot(index)
    const at = index * PIECE_DOUBLES
    doubles[at + PieceDouble.Address] = words[from]!
    doubles[at + PieceDouble.Length] = words[from + 1]!
    doubles[at + PieceDouble.Key] = words[from + 2]!
    doubles[at + PieceDouble.Skip] = repeat === 0 ? 0 : words[segmentSlot(count) + index]!
  }
  const pieces = new Pieces(doubles, count, Math.max(1, repeat))
  return pieces.plausible ? pieces : undefined
}

import { MAX_REQUESTS, MAX_SEGMENTS } from '../soft/limits.ts'
import {
  BLOCK_HEADER_BYTES,
  type BlockGeometry,
  BlockWord,
  blockGeometry,
  RESULT_WORDS,
  requestDoubles,
} from './layout.ts'

/** The block of a queue pair, mapped by its owner or by its peer. layout.ts says which of them writes what. */
export class PairBlock {
  readonly buffer: ArrayBuffer
  readonly words: Int32Array
  /** Receive requests, `requestStride` doubles each. */
  readonly requests: Float64Array
  readonly requestStride: number
  /** Receive completions, RESULT_WORDS each; `resultDoubles` is the same memory. */
  readonly results: Int32Array
  readonly resultDoubles: Float64Array
  /** One word per slot, for rings that many send to. */
  readonly claims: Int32Array
  readonly mask: number
  readonly segments: number

  constructor(buffer: ArrayBuffer, geometry: BlockGeometry) {
    const { ringSize, segments, resultsOffset, claimsOffset } = geometry
    this.buffer = buffer
    this.words = new Int32Array(buffer, 0, BLOCK_HEADER_BYTES / 4)
    this.requestStride = requestDoubles(segments)
    this.requests = new Float64Array(buffer, BLOCK_HEADER_BYTES, ringSize * this.requestStride)
    this.results = new Int32Array(buffer, resultsOffset, ringSize * RESULT_WORDS)
    this.resultDoubles = new Float64Array(buffer, resultsOffset, (ringSize * RESULT_WORDS) / 2)
    this.claims = new Int32Array(buffer, claimsOffset, ringSize)
    this.mask = ringSize - 1
    this.segments = segments
  }
}

/** The geometry that a peer's block claims to have, or undefined if that is impossible. */
export function claimedGeometry(words: Int32Array, pages: number): BlockGeometry | undefined {
  const ringSize = words[BlockWord.RingSize]!
  const segments = words[BlockWord.Segments]!
  if (ringSize < 1 || ringSize > MAX_REQUESTS || (ringSize & (ringSize - 1)) !== 0) return undefined
  if (segments < 1 || segments > MAX_SEGMENTS) return undefined
  const geometry = blockGeometry(ringSize, segments)
  return geometry.pages === pages ? geometry : undefined
}

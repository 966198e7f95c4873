import { native } from '../../native/index.ts'
import { BlockWord, blockGeometry, powerOfTwoAtLeast } from './layout.ts'
import { PairBlock } from './pair-block.ts'
import type { Segment } from './segment.ts'

/** A block of this device's segment, and the pages that it occupies. */
export class OwnBlock {
  readonly block: PairBlock
  readonly firstPage: number
  readonly pages: number
  readonly #segment: Segment

  /** Make room for `requests` receive requests of up to `segments` segments each. */
  constructor(segment: Segment, requests: number, segments: number) {
    const geometry = blockGeometry(powerOfTwoAtLeast(requests), Math.max(1, segments))
    this.#segment = segment
    this.pages = geometry.pages
    this.firstPage = segment.allocatePages(geometry.pages)
    this.block = new PairBlock(segment.mapPages(this.firstPage, geometry.pages), geometry)
    this.block.words[BlockWord.RingSize] = geometry.ringSize
    this.block.words[BlockWord.Segments] = geometry.segments
  }

  /** Peers that still map it then read zeros. */
  release(): void {
    native.unmapMemory(this.block.buffer)
    this.#segment.releasePages(this.firstPage, this.pages)
  }
}

import { decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import {
  type Cursor,
  cursorWord,
  indexIn,
  positionOf,
  readSegment,
  SEGMENT_HEAD_BYTES,
  type Segment,
  segmentNameIn,
} from './queue-segment.ts'

/** The word at the home is moved once in this many places: a look finds as many, and more. */
const PLACES_BEHIND = 16
/** Segments that are known at a time. */
const KNOWN_MAX = 8

/**
 * What this rank knows of one end of a queue: a place before which all are taken (the head), or filled (the tail). That
 * stays true for ever, so it may be old. The word at the home says the same for ranks that know nothing. It is moved
 * from one segment to the next before any call here goes on to that.
 */
export class QueueEnd {
  readonly place: number
  readonly #memory: HomeMemory
  readonly #known = new Map<bigint, Segment>()
  #cursor: Cursor | undefined
  /** The word at the home, as it was seen last. */
  #seen = 0n

  constructor(memory: HomeMemory, place: number) {
    this.#memory = memory
    this.place = place
  }

  /** Undefined where nothing is known. */
  get cursor(): Cursor | undefined {
    return this.#cursor
  }

  /**
   * A place that is not behind the one at the home when this rank asked first; a round trip or two where nothing is
   * known.
   */
  async find(): Promise<Cursor> {
    for (;;) {
      if (this.#cursor !== undefined) return this.#cursor
      const word = await this.#memory.load64(this.place)
      const name = segmentNameIn(word)
      const segment = this.#known.get(name) ?? (await this.#learn(name))
      if (segment === undefined) continue
      this.#seen = word
      this.advance({ segment, index: indexIn(word) })
    }
  }

  /** All before this place are taken, or filled. */
  advance(cursor: Cursor): void {
    if (this.#cursor === undefined || positionOf(cursor) > positionOf(this.#cursor)) this.#cursor = cursor
  }

  /**
   * The word at the home is `word`, after a look at `segment`. False if it is in another segment by now. Then what was
   * seen there must not be used, for the segment may have another use.
   */
  see(segment: Segment, word: bigint): boolean {
    this.#seen = word
    const isThere = segmentNameIn(word) === segment.name
    if (isThere) this.advance({ segment, index: indexIn(word) })
    else this.forget(segment)
    return isThere
  }

  /** What is known of a segment that the word at the home has left. */
  forget(segment: Segment): void {
    if (this.#cursor?.segment.name === segment.name) this.#cursor = undefined
  }

  /**
   * Move the word at the home, if it is far behind. The caller does not wait for it, and if it fails another rank has
   * moved it.
   */
  tell(): void {
    const cursor = this.#cursor
    const seen = this.#seen
    if (cursor === undefined || seen === 0n || segmentNameIn(seen) !== cursor.segment.name) return
    if (cursor.index - indexIn(seen) < PLACES_BEHIND) return
    const word = cursorWord(cursor)
    this.#seen = word
    const tell = async (): Promise<void> => {
      const before = await this.#memory.compareExchange64(this.place, seen, word)
      if (before !== seen && this.#seen === word) this.#seen = before
    }
    tell().catch(() => {})
  }

  /**
   * Move the word at the home from the segment `from` to the start of the next one; it is `seen`. Done when it has left
   * `from`, whichever rank moved it.
   */
  async cross(seen: bigint, from: bigint, to: bigint): Promise<void> {
    for (let word = seen; segmentNameIn(word) === from; ) {
      const before = await this.#memory.compareExchange64(this.place, word, to)
      if (before === word) return
      word = before
    }
  }

  /** A segment that is in the queue. */
  know(segment: Segment): void {
    this.#known.set(segment.name, segment)
    const [oldest] = this.#known.keys()
    if (this.#known.size > KNOWN_MAX) this.#known.delete(oldest!)
  }

  /** What it says, if it was at this end before and after that was read. */
  async #learn(name: bigint): Promise<Segment | undefined> {
    const { offset } = decodeBlock(name) as { readonly offset: number }
    const head = new ReadCommand(offset, SEGMENT_HEAD_BYTES)
    const after = new ReadCommand(this.place, 8)
    await this.#memory.run([head, after])
    const segment = segmentNameIn(after.word()) === name ? readSegment(name, head.bytes) : undefined
    if (segment !== undefined) this.know(segment)
    return segment
  }
}

import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import { bytesOfClass, decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { headBytes, readValueBlock, writeValueBlock } from '../heap/value-block.ts'
import { CompareExchangeCommand, ReadCommand, WriteCommand } from '../memory/command.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { backOff, Turns } from '../waiting/turns.ts'
import { waitingRanksBytes } from '../waiting/waiting-ranks.ts'
import type { GroupListCore } from './group-list.ts'
import { QueueEnd } from './queue-end.ts'
import {
  type Cursor,
  namesBlock,
  newSegment,
  nextOf,
  placeOf,
  positionOf,
  type Segment,
  segmentName,
  segmentNameIn,
  writeSegment,
} from './queue-segment.ts'

/** The body of a queue: the words of its ends, then the marks of those that wait for a value, and for room. */
const End = { Head: 0, Tail: 8, Waiting: 16 } as const
export function queueBytes(ranks: number): number {
  return End.Waiting + 2 * waitingRanksBytes(ranks)
}

/** Places that one look takes in. */
const LOOK_PLACES = 32
/** What comes next is read ahead where its block is no longer. */
const AHEAD_BYTES_MAX = 1024

/** What a queue is made with. */
export interface QueueShape {
  /** 0: no bound. */
  readonly capacity: number
  readonly segmentBytes: number
}

/** A place that names a block, with what the block said where that was read already. */
interface Found {
  readonly cursor: Cursor
  readonly word: bigint
  readonly read: ReadCommand | undefined
}

/** The words of places as a look found them. */
interface Look {
  readonly from: Cursor
  readonly places: ReadCommand
}

/**
 * A queue at one home, as one rank uses it: places in a row (queue-segment.ts), in segments that are linked.
 *
 * **Push** is a compare-and-swap of the first open place, from open to the name of the value's block, and takes effect
 * there. It is the first because all places before were seen filled, and a place never becomes open again. It is the
 * end of the row, so no place is reserved. A rank that is killed leaves nothing that others have to wait for, or to
 * skip.
 *
 * **Pop** is a compare-and-swap of the first place that is not taken, from the block's name to taken, all before it
 * having been seen taken. The block was read before, and cannot have changed meanwhile, for names are never the same
 * twice.
 *
 * **Nothing there** is told by an open place that was read after all before it had been seen taken. **No room** is told
 * by a place that was not taken though `capacity` places from it on had been seen filled. Both are of the moment of
 * that READ.
 *
 * All that a rank remembers stays true: at least this many are taken, at least this many are filled. A rank may have
 * slept for so long that its segment has another use by now. If so, it finds neither its words nor its blocks there:
 * each block says for which segment it was made. Then it looks at the ends' words again.
 *
 * A segment is freed like every block, when its owner's census, which goes from the head's word on (queue-census.ts),
 * does not find it any more. The tail's word leaves a segment before the head's does, so a rank that begins with either
 * comes upon segments that are there.
 *
 * Round trips: push 1, and 1 more for each time that others were faster; pop 3, of several in a row 1 each.
 */
export class GroupQueueCore implements GroupListCore {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #body: number
  readonly #shape: QueueShape
  readonly #head: QueueEnd
  readonly #tail: QueueEnd
  readonly filled: GroupBell
  readonly emptied: GroupBell
  readonly #pushing = new Turns()
  readonly #popping = new Turns()
  #look: Look | undefined
  /** What comes after what this rank took last. */
  #ahead: Found | undefined

  constructor(memory: HomeMemory, pool: BlockPool, body: number, shape: QueueShape) {
    this.#memory = memory
    this.#pool = pool
    this.#body = body
    this.#shape = shape
    this.#head = new QueueEnd(memory, body + End.Head)
    this.#tail = new QueueEnd(memory, body + End.Tail)
    const waiting = body + End.Waiting
    this.filled = memory.bell(waiting, 'one')
    this.emptied = memory.bell(waiting + waitingRanksBytes(memory.group.ranks), 'one')
  }

  push(value: Uint8Array): Promise<boolean> {
    return this.#pushing.take(() => this.#push(value))
  }

  pop(): Promise<Uint8Array | undefined> {
    return this.#popping.take(() => this.#pop())
  }

  /** The head is looked at first: it may only be overtaken by what is pushed meanwhile. */
  async length(): Promise<number> {
    const front = await this.#front()
    if (front === undefined) return 0
    const length = (await this.#back()) - positionOf(front.cursor)
    return this.#shape.capacity === 0 ? length : Math.min(length, this.#shape.capacity)
  }

  async #push(value: Uint8Array): Promise<boolean> {
    let block: OwnBlock | undefined
    try {
      for (let attempt = 0; ; attempt += 1) {
        await backOff(this.#memory.group, attempt)
        const tail = await this.#tail.find()
        if (isAtEnd(tail)) {
          await this.#extend(tail.segment)
          continue
        }
        if (!(await this.#hasRoom(tail))) return false
        block ??= await this.#pool.take(headBytes(1) + value.length)
        if (!(await this.#tryFill(tail, block, value))) continue
        this.#pool.linked(block)
        block = undefined
        return true
      }
    } finally {
      if (block !== undefined) this.#pool.release(block)
    }
  }

  async #pop(): Promise<Uint8Array | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      await backOff(this.#memory.group, attempt)
      const found = this.#takeAhead() ?? (await this.#front())
      if (found === undefined) return undefined
      const value = await this.#read(found)
      if (value !== undefined && (await this.#tryTake(found))) return value
    }
  }

  /** Name the block in the first open place. False where that was another; then it is known better. */
  async #tryFill(tail: Cursor, block: OwnBlock, value: Uint8Array): Promise<boolean> {
    const { segment, index } = tail
    const fill = new CompareExchangeCommand(placeOf(tail), segment.open, segmentName(block))
    const write = new WriteCommand(block.offset, writeValueBlock(block.tag, [segment.open], value))
    const after = { segment, index: index + 1 }
    const look = { from: after, places: readPlaces(after) }
    const ends = this.#readEnds()
    await this.#memory.run([write, fill, look.places, ends])
    if (fill.swapped) {
      this.#tail.advance(after)
      void this.filled.ring(ends)
    }
    if (this.#tail.see(segment, ends.word(End.Tail)))
      this.#tail.advance(firstNot(look, (word) => word !== segment.open))
    if (fill.swapped) this.#tail.tell()
    return fill.swapped
  }

  /** Take what was found, and see what comes next. False where another has. */
  async #tryTake({ cursor, word }: Found): Promise<boolean> {
    const { segment, index } = cursor
    const take = new CompareExchangeCommand(placeOf(cursor), word, segment.taken)
    const after = { segment, index: index + 1 }
    const next = blockAt(this.#look, after)
    const read = next === undefined ? undefined : readAhead(next)
    const look = { from: after, places: readPlaces(after) }
    const ends = this.#readEnds()
    await this.#memory.run([take, ...(read === undefined ? [] : [read]), look.places, ends])
    if (take.swapped) this.#head.advance(after)
    const isThere = this.#head.see(segment, ends.word(End.Head))
    const following = take.swapped ? after : firstNot(look, (other) => other === segment.taken)
    if (isThere) this.#head.advance(following)
    const found = isThere ? blockAt(look, following) : undefined
    this.#look = isThere ? look : undefined
    this.#ahead =
      found === undefined ? undefined : { cursor: following, word: found, read: found === next ? read : undefined }
    if (!take.swapped) return false
    this.#pool.release(decodeBlock(word)!)
    if (this.#shape.capacity !== 0) void this.emptied.ring(ends)
    this.#head.tell()
    return true
  }

  /** The first place that is not taken, with the word that was there; undefined where nothing is there. */
  async #front(): Promise<Found | undefined> {
    for (;;) {
      const head = await this.#head.find()
      const { segment } = head
      if (isAtEnd(head)) {
        if (await this.#leave(segment)) continue
        return undefined
      }
      const look = { from: head, places: readPlaces(head) }
      const ends = this.#readEnds()
      await this.#memory.run([look.places, ends])
      if (!this.#head.see(segment, ends.word(End.Head))) continue
      this.#look = look
      const cursor = firstNot(look, (word) => word === segment.taken)
      this.#head.advance(cursor)
      const word = wordAt(look, cursor)
      if (word === undefined) continue
      if (namesBlock(word)) return { cursor, word, read: undefined }
      // Those before it were seen taken by this very READ, and that is not of one moment.
      if (cursor.index === head.index) return undefined
    }
  }

  /** The position after the last value. */
  async #back(): Promise<number> {
    for (;;) {
      const tail = await this.#tail.find()
      if (isAtEnd(tail)) {
        if (!(await this.#follow(tail.segment))) return positionOf(tail)
        continue
      }
      const look = { from: tail, places: readPlaces(tail) }
      const ends = this.#readEnds()
      await this.#memory.run([look.places, ends])
      if (!this.#tail.see(tail.segment, ends.word(End.Tail))) continue
      const cursor = firstNot(look, (word) => word !== tail.segment.open)
      this.#tail.advance(cursor)
      if (wordAt(look, cursor) !== undefined) return positionOf(cursor)
    }
  }

  /** Whether the value of this place would be within the bound. */
  async #hasRoom(tail: Cursor): Promise<boolean> {
    const { capacity } = this.#shape
    const isWithin = (head: Cursor): boolean => positionOf(tail) - positionOf(head) < capacity
    if (capacity === 0 || (this.#head.cursor !== undefined && isWithin(this.#head.cursor))) return true
    const front = await this.#front()
    return front === undefined || isWithin(front.cursor)
  }

  /** What a block says; undefined where it is not the one that the place meant. */
  async #read({ cursor, word, read }: Found): Promise<Uint8Array | undefined> {
    const name = decodeBlock(word)!
    const bytes = read?.bytes ?? (await this.#memory.read(name.offset, bytesOfClass(name.sizeClass))).bytes
    const block = readValueBlock(name, bytes)
    return block?.words[0] === cursor.segment.open ? block.value : undefined
  }

  /** The tail's segment is full: go on to the next one, which this rank makes where there is none. */
  async #extend(segment: Segment): Promise<void> {
    if (await this.#follow(segment)) return
    const block = await this.#pool.take(this.#shape.segmentBytes)
    const made = newSegment(block, segment.first + segment.places, () => this.#memory.group.random())
    const link = new CompareExchangeCommand(nextOf(segment), segment.open, made.name)
    let linked = false
    try {
      await this.#memory.run([new WriteCommand(block.offset, writeSegment(made)), link])
      linked = link.swapped
    } finally {
      if (linked) this.#pool.linked(block)
      else this.#pool.release(block)
    }
    if (!linked) return
    this.#head.know(made)
    this.#tail.know(made)
    await this.#follow(segment)
  }

  /** Go on to the segment after this one, in which all places are filled. False where there is none. */
  async #follow(segment: Segment): Promise<boolean> {
    const { next, ends } = await this.#readNext(segment)
    const tail = ends.word(End.Tail)
    if (!this.#tail.see(segment, tail)) return true
    if (!namesBlock(next)) return false
    await this.#tail.cross(tail, segment.name, next)
    this.#tail.forget(segment)
    return true
  }

  /** Go on to the segment after this one, in which all places are taken. False where there is none. */
  async #leave(segment: Segment): Promise<boolean> {
    const { next, ends } = await this.#readNext(segment)
    const head = ends.word(End.Head)
    if (!this.#head.see(segment, head)) return true
    if (!namesBlock(next)) return false
    const tail = ends.word(End.Tail)
    if (segmentNameIn(tail) === segment.name) await this.#tail.cross(tail, segment.name, next)
    await this.#head.cross(head, segment.name, next)
    this.#head.forget(segment)
    return true
  }

  async #readNext(segment: Segment): Promise<{ readonly next: bigint; readonly ends: ReadCommand }> {
    const next = new ReadCommand(nextOf(segment), 8)
    const ends = this.#readEnds()
    await this.#memory.run([next, ends])
    return { next: next.word(), ends }
  }

  /** With those who wait. */
  #readEnds(): ReadCommand {
    return new ReadCommand(this.#body, queueBytes(this.#memory.group.ranks))
  }

  #takeAhead(): Found | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    const head = this.#head.cursor
    return ahead !== undefined && head !== undefined && positionOf(head) === positionOf(ahead.cursor)
      ? ahead
      : undefined
  }
}

function isAtEnd({ segment, index }: Cursor): boolean {
  return index === segment.places
}

/** A READ of what comes; at the end of a segment of its last place. */
function readPlaces({ segment, index }: Cursor): ReadCommand {
  const first = Math.min(index, segment.places - 1)
  return new ReadCommand(placeOf({ segment, index: first }), Math.min(LOOK_PLACES, segment.places - first) * 8)
}

/** The word of a place in a look; undefined where it is not in it. */
function wordAt({ from, places }: Look, { segment, index }: Cursor): bigint | undefined {
  const at = index * 8 + placeOf({ segment, index: 0 }) - places.offset
  return segment.name === from.segment.name && at >= 0 && at < places.length ? places.word(at) : undefined
}

function blockAt(look: Look | undefined, cursor: Cursor): bigint | undefined {
  const word = look && wordAt(look, cursor)
  return word !== undefined && namesBlock(word) ? word : undefined
}

/** The first place from where the look began that is not so, or the one after the look. */
function firstNot(look: Look, isSo: (word: bigint) => boolean): Cursor {
  const { segment } = look.from
  for (let { index } = look.from; ; index += 1) {
    const word = wordAt(look, { segment, index })
    if (word === undefined || !isSo(word)) return { segment, index }
  }
}

function readAhead(word: bigint): ReadCommand | undefined {
  const { offset, sizeClass } = decodeBlock(word)!
  const lengthBytes = bytesOfClass(sizeClass)
  return lengthBytes > AHEAD_BYTES_MAX ? undefined : new ReadCommand(offset, lengthBytes)
}

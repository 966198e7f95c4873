import { MemberEndedError, ranksInWords } from '../../cluster/index.ts'
import { hashText } from '../../codecs/index.ts'
import type { Collectives, ElementArray } from '../../collectives/index.ts'
import { CollectiveError } from '../../messaging/index.ts'
import { type Block, blockOver, isContiguous, sizeOf } from '../blocks/block.ts'
import { copyInto } from '../blocks/copying.ts'
import { ArrayError, type ArrayErrorKind } from '../errors.ts'
import { elementsOfPiece, type OwnPiece, type PartMemory, type Place } from '../memory/part-memory.ts'
import type { DType, Elements } from '../types/dtype.ts'
import { MovedMeter } from './moved-meter.ts'
import { type Step, type Steps, waitFor } from './steps.ts'

/** What ranks tell each other in an agreement: numbers, in this order, then those of pieces that a rank has dropped. */
const Said = { Hash: 0, Count: 1, Address: 2, Key: 3, Drops: 4, FirstDrop: 5 } as const
const SAID = 16
const DROPS_MAX = SAID - Said.FirstDrop
const NOWHERE: Place = { address: 0, key: 0 }
/** The address that a rank says that has no memory for what it is to give. */
const NO_MEMORY = -1
/** Of the text of an operation, as far as others are told it. */
const TEXT_BYTES = 128
/** Of an error. */
const ERROR_BYTES = 512

/** Bytes that came to this rank, or left it, for arrays. */
export interface Moved {
  readonly bytes: number
  readonly exchanges: number
}

/** An own piece, and the number under which all ranks know its counterparts. */
interface NumberedPiece {
  readonly piece: OwnPiece
  /** The ranks that have told that they dropped the array. */
  readonly droppedBy: Set<number>
}

/** What a rank has in teams of any ranks. */
interface Holdings {
  /** By the memory of a block that was allocated here. */
  readonly pieces: WeakMap<Elements, OwnPiece>
  readonly numbered: Map<number, NumberedPiece>
  nextNumber: number
  /** Dropped here, and not told yet. */
  readonly dropped: number[]
  readonly meter: MovedMeter
}

function newHoldings(): Holdings {
  return { pieces: new WeakMap(), numbered: new Map(), nextNumber: 1, dropped: [], meter: new MovedMeter() }
}

/**
 * The ranks that compute on arrays together. Every rank calls the same operations in the same order; each operation for
 * which something moves begins with an agreement that this is so. An agreement also tells where parts lie, and which
 * arrays a rank has dropped.
 */
export class Team {
  /** This rank's number in the group as it was joined. */
  readonly rank: number
  /** The numbers of those that are here, in order. */
  readonly ranks: readonly number[]
  /** Undefined if other ranks reach no memory of this one. */
  readonly memory: PartMemory | undefined
  /** Do all ranks map the memory of all? */
  readonly isMapped: boolean
  readonly #collectives: Collectives
  /** Of all that was noted so far. */
  #order = 0
  #count = 0
  #last = ''
  readonly #holdings: Holdings

  constructor(
    collectives: Collectives,
    ranks: readonly number[],
    rank: number,
    memory: PartMemory | undefined,
    isMapped: boolean = memory !== undefined,
    holdings: Holdings = newHoldings(),
  ) {
    this.isMapped = isMapped
    this.#collectives = collectives
    this.ranks = ranks
    this.rank = rank
    this.memory = memory
    this.#holdings = holdings
  }

  get size(): number {
    return this.ranks.length
  }

  /** The team of the ranks that are left, which have the same parts as before. All of them call it. */
  *withoutLost(collectives: Collectives, ranks: readonly number[]): Steps<Team> {
    const holdings = this.#holdings
    const team = new Team(collectives, ranks, this.rank, this.memory, this.isMapped, holdings)
    // Some may not have heard of what was dropped: it is told again.
    for (const [number, { droppedBy }] of holdings.numbered)
      if (droppedBy.has(this.rank) && !holdings.dropped.includes(number)) team.drop(number)
    // Some may have begun what others have not.
    holdings.nextNumber = Math.max(...(yield* team.#allGather(Float64Array.of(holdings.nextNumber))))
    return team
  }

  /** What came here from other ranks. */
  get moved(): Moved {
    const { bytes, exchanges } = this.#holdings.meter
    return { bytes, exchanges }
  }

  /** No arrays are left. */
  endCounting(): void {
    this.#holdings.meter.close()
  }

  countMoved(bytes: number): void {
    this.#holdings.meter.moved(bytes)
  }

  // ---- agreements
  // ----------------------------------------------------------------------------------------------------------------

  /** What every rank's program does here, in its order. Nothing is sent: the next agreement compares it. */
  note(what: string): void {
    this.#order = hashText(what, this.#order)
    this.#count += 1
    this.#last = what
  }

  /**
   * Wait until every rank does the same, has done the same before, and has the memory that `prepare` takes. `prepare`
   * returns the place of what this rank gives. Returns the place of each, by position in `ranks`.
   * @throws ArrayError at every rank: ORDER if they differ, MEMORY if one has not enough, LOST if one has died.
   */
  *agree(what: string, prepare: () => Place = () => NOWHERE): Steps<readonly Place[]> {
    this.note(what)
    const { place, error } = attempted(prepare)
    if (this.size === 1) {
      if (error !== undefined) throw error
      return [place]
    }
    this.#holdings.meter.exchanges += 1
    const own = new Float64Array(SAID)
    own[Said.Hash] = this.#order
    own[Said.Count] = this.#count
    own[Said.Address] = place.address
    own[Said.Key] = place.key
    const drops = this.#holdings.dropped.slice(0, DROPS_MAX)
    own[Said.Drops] = drops.length
    own.set(drops, Said.FirstDrop)
    const all = yield* this.#allGather(own)
    this.#holdings.dropped.splice(0, drops.length)
    yield* this.#compare(all)
    this.#hearDrops(all)
    if (error !== undefined) throw error
    const places = this.ranks.map(
      (_, at): Place => ({
        address: all[at * SAID + Said.Address]!,
        key: all[at * SAID + Said.Key]!,
      }),
    )
    const without = this.ranks.filter((_, at) => places[at]?.address === NO_MEMORY)
    if (without.length === 0) return places
    throw new ArrayError('MEMORY', `${ranksInWords(without)} cannot take part: there is not enough memory; drop arrays`)
  }

  /** Wait until every rank is here: what others read of this one is read. */
  *meet(): Steps<void> {
    if (this.size > 1) yield* this.#allGather(new Uint8Array(1))
  }

  /** What each rank computes by itself, once all have. If one cannot, all throw what it throws. @throws ArrayError */
  *allOrNone<T>(compute: () => T): Steps<T> {
    let error: unknown
    let value: T | undefined
    try {
      value = compute()
    } catch (caught) {
      error = caught
    }
    if (this.size === 1) {
      if (error !== undefined) throw error
      return value as T
    }
    const failed = yield* this.#allGather(Uint8Array.of(error === undefined ? 0 : 1))
    const first = failed.indexOf(1)
    if (first < 0) return value as T
    const text = new Uint8Array(ERROR_BYTES)
    const { code = '', message } = (error ?? { message: '' }) as { readonly code?: string; readonly message: string }
    new TextEncoder().encodeInto(`${code}\n${message}`, text)
    const texts = yield* this.#allGather(text)
    if (error !== undefined) throw error
    const [of = '', ...words] = textIn(texts, first, ERROR_BYTES).split('\n')
    const kind = of.replace('ERR_AETHER_ARRAY_', '') as ArrayErrorKind
    throw new ArrayError(of.startsWith('ERR_AETHER_ARRAY_') ? kind : 'VALUE', words.join('\n'))
  }

  /** Parts of the lengths in `counts`, one behind the other, at every rank. */
  *collect<A extends ElementArray>(own: A, counts: readonly number[]): Steps<A> {
    const all = yield* this.#gather(own, counts)
    this.countMoved(all.byteLength - own.byteLength)
    return all
  }

  /** `counts[k]` bytes for the k-th rank, one behind the other. As many as `expected` says come from each. */
  *deal(bytes: Uint8Array, counts: readonly number[], expected: readonly number[]): Steps<Uint8Array> {
    const lengths = { sendCounts: counts, receiveCounts: expected }
    const output = new Uint8Array(expected.reduce((sum, count) => sum + count, 0))
    return yield* this.together({
      blocking: () => this.#collectives.allToAllVSync(bytes, output, lengths),
      awaited: () => this.#collectives.allToAllV(bytes, output, lengths),
    })
  }

  /** A step of all ranks. */
  *together<T>(step: Step<T>): Steps<T> {
    try {
      return yield* waitFor(step)
    } catch (error) {
      throw lostError(error) ?? error
    }
  }

  // ---- memory
  // ----------------------------------------------------------------------------------------------------------------

  /** A block of any elements that other ranks reach by the places. Its memory is given back by number; see `drop`. */
  *allocate(dtype: DType, shape: readonly number[]): Steps<{ block: Block; places: readonly Place[]; number: number }> {
    const number = this.#holdings.nextNumber++
    let piece: OwnPiece | undefined
    try {
      const places = yield* this.agree(`makes ${dtype} of ${shape.length} axes`, () => {
        piece = this.memory!.take(sizeOf(shape) * dtype.bytes)
        return piece.place
      })
      const own = piece!
      const block = blockOver(elementsOfPiece(own, dtype, sizeOf(shape) * dtype.lanes), dtype, shape)
      this.#holdings.pieces.set(block.data, own)
      this.#holdings.numbered.set(number, { piece: own, droppedBy: new Set() })
      return { block, places, number }
    } catch (error) {
      piece?.giveBack()
      throw error
    }
  }

  /** No code of this rank uses the parts of this number any more. The owners hear of it with the next agreement. */
  drop(number: number): void {
    this.#holdings.dropped.push(number)
  }

  /**
   * Where other ranks can read this block, as it lies in row-major order. A copy, unless it was allocated here; then
   * `giveBack` frees the copy once all have read it.
   */
  publish(block: Block): { readonly place: Place; readonly giveBack: () => void } {
    const own = this.#holdings.pieces.get(block.data)
    if (own !== undefined && block.offset === 0 && isContiguous(block)) return { place: own.place, giveBack: () => {} }
    const { dtype, shape } = block
    const size = sizeOf(shape)
    const piece = this.memory!.take(size * dtype.bytes)
    copyInto(blockOver(elementsOfPiece(piece, dtype, size * dtype.lanes), dtype, shape), block)
    return piece
  }

  /** The part of another rank, as it lies there; undefined where it is not mapped. */
  mappedPart(rank: number, place: Place, dtype: DType, shape: readonly number[]): Block | undefined {
    const data = this.memory?.mapped(rank, place, dtype, sizeOf(shape) * dtype.lanes)
    return data && blockOver(data, dtype, shape)
  }

  // ---- inside
  // ----------------------------------------------------------------------------------------------------------------

  /** What ranks tell each other about elements; it is not counted as moved. */
  *#allGather<A extends ElementArray>(own: A): Steps<A> {
    return yield* this.#gather(own, new Array<number>(this.size).fill(own.length))
  }

  *#gather<A extends ElementArray>(own: A, counts: readonly number[]): Steps<A> {
    const total = counts.reduce((sum, count) => sum + count, 0)
    const all = new (own.constructor as new (length: number) => A)(total)
    return yield* this.together({
      blocking: () => this.#collectives.allGatherSync(own, all, { counts }),
      awaited: () => this.#collectives.allGather(own, all, { counts }),
    })
  }

  *#compare(all: Float64Array): Steps<void> {
    const at = this.ranks.indexOf(this.rank)
    const differs = (other: number): boolean =>
      all[other * SAID + Said.Hash] !== all[Said.Hash] || all[other * SAID + Said.Count] !== all[Said.Count]
    if (!this.ranks.some((_, other) => differs(other))) return
    const text = new Uint8Array(TEXT_BYTES)
    new TextEncoder().encodeInto(this.#last, text)
    const texts = yield* this.#allGather(text)
    const told = this.ranks.map((rank, other) => {
      const words = textIn(texts, other, TEXT_BYTES)
      return `rank ${rank} ${words} as number ${all[other * SAID + Said.Count]}`
    })
    // From here on they may go on together.
    this.#order = 0
    this.#count = 0
    const others = told.filter((_, other) => other !== at)
    throw new ArrayError(
      'ORDER',
      `the ranks do different operations: here ${told[at]}; ${others.join('; ')}. Every rank must make the same calls in the same order`,
    )
  }

  #hearDrops(all: Float64Array): void {
    for (const [at, rank] of this.ranks.entries()) {
      const begin = at * SAID
      const drops = all[begin + Said.Drops]!
      for (let each = 0; each < drops; each += 1) this.#heardDrop(rank, all[begin + Said.FirstDrop + each]!)
    }
  }

  #heardDrop(rank: number, number: number): void {
    const known = this.#holdings.numbered.get(number)
    if (known === undefined) return
    known.droppedBy.add(rank)
    if (!this.ranks.every((each) => known.droppedBy.has(each))) return
    this.#holdings.numbered.delete(number)
    known.piece.giveBack()
  }
}

/** The text of one rank among those of all, each of which takes up `bytesMax`. */
function textIn(texts: Uint8Array, at: number, bytesMax: number): string {
  const bytes = texts.subarray(at * bytesMax, (at + 1) * bytesMax)
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function attempted(prepare: () => Place): { readonly place: Place; readonly error?: ArrayError } {
  try {
    return { place: prepare() }
  } catch (error) {
    if (error instanceof ArrayError) return { place: { address: NO_MEMORY, key: 0 }, error }
    throw error
  }
}

/** What a rank that has died means for arrays; undefined if the error is about something else. */
function lostError(error: unknown): ArrayError | undefined {
  const ranks =
    error instanceof MemberEndedError
      ? error.ranks
      : error instanceof CollectiveError && error.code === 'ERR_AETHER_PEER_LOST'
        ? [error.peer]
        : undefined
  if (ranks === undefined) return undefined
  const text = `${ranksInWords(ranks)} ended, and its parts of arrays with it; go on without it by shrink()`
  return new ArrayError('LOST', text, { cause: error as Error })
}

import type { MemoryLending, MessageLink, RegisteredBuffer } from '../messaging/index.ts'
import { MalformedFrameError } from './errors.ts'
import { FrameKind, NO_BUDGET } from './frame.ts'
import { BodyMemory, type IncomingFrame } from './incoming-frame.ts'

/** Long bodies are fetched in pieces, so that one that is not wanted any more ends soon. */
const PIECE_BYTES = 1 << 20
/** If bytes go in packets: a READ that loses one may start again. */
const PACKETED_PIECE_BYTES = 64 << 10
/** READs under way, of all bodies. */
const PIECES_UNDER_WAY = 4

/**
 * Reports the end of a fetch. If it is not whole, it was dropped; `shortage` says why there was no memory for it. It is
 * called once, and never after the link has ended. The body is valid until it returns, unless its memory is `Own`.
 */
export type FetchDone = (frame: IncomingFrame, isWhole: boolean, shortage: unknown) => void

/** How much memory fetches may take at a time. */
export interface FetchRoom {
  /** Returns true if there is room for this many bytes; then `left` follows. */
  enter(lengthBytes: number): boolean
  left(lengthBytes: number): void
}

interface Fetch {
  readonly frame: IncomingFrame
  readonly begunAt: number
  readonly address: number
  readonly key: number
  readonly length: number
  /** A {@link BodyMemory}. */
  readonly memory: number
  /** It has room, from its first piece on. */
  isIn: boolean
  place: Place | undefined
  nextByte: number
  underWay: number
  isDropped: boolean
  /** What the device said when it had no memory for it. */
  shortage: unknown
}

/** Where a body comes to lie, while it comes. */
interface Place {
  readonly buffer: RegisteredBuffer
  readonly giveBack: () => void
}

/**
 * Bodies that lie at the peer, fetched by READs of this end's device. Fetches run beside all other frames, first come,
 * first served. Memory is taken only for those under way.
 */
export class BodyFetches {
  readonly #lending: MemoryLending | undefined
  readonly #link: MessageLink
  readonly #room: FetchRoom
  readonly #done: FetchDone
  readonly #fetches = new Map<number, Fetch>()
  readonly #pieceBytes: number
  #underWay = 0
  #ended = false

  constructor(link: MessageLink, room: FetchRoom, done: FetchDone) {
    this.#link = link
    this.#lending = link.lending
    this.#room = room
    this.#done = done
    this.#pieceBytes = link.throughSharedMemory === true ? PIECE_BYTES : PACKETED_PIECE_BYTES
  }

  get size(): number {
    return this.#fetches.size
  }

  has(call: number): boolean {
    return this.#fetches.has(call)
  }

  /** True if a request is being fetched. */
  hasRequest(call: number): boolean {
    return this.#fetches.get(call)?.frame.kind === FrameKind.Request
  }

  /** @throws MalformedFrameError. */
  begin(frame: IncomingFrame, memory: number): void {
    const { body } = frame.extension
    if (body === undefined) throw new MalformedFrameError('a body is offered without its place')
    if (this.#lending === undefined) throw new MalformedFrameError('a body is offered over a link that cannot read it')
    const { address, key, length } = body
    const place = { isIn: false, place: undefined, nextByte: 0, underWay: 0, isDropped: false, shortage: undefined }
    const fetch: Fetch = { frame, begunAt: performance.now(), address, key, length, memory, ...place }
    this.#fetches.set(frame.call, fetch)
    this.#advance(this.#lending)
  }

  /** The body is not wanted any more: it ends with what is under way. */
  drop(call: number): void {
    const fetch = this.#fetches.get(call)
    if (fetch === undefined) return
    fetch.isDropped = true
    if (fetch.underWay > 0 || this.#lending === undefined) return
    this.#finish(fetch)
    this.#advance(this.#lending)
  }

  /** The link has ended. Nothing that is under way arrives once its queue pair is gone. */
  end(): void {
    this.#ended = true
    const places = [...this.#fetches.values()].map(({ place }) => place)
    this.#fetches.clear()
    setImmediate(() => {
      for (const place of places) giveBackAnyway(place)
    })
  }

  #advance(lending: MemoryLending): void {
    for (const fetch of this.#fetches.values())
      while (fetch.nextByte < fetch.length && !fetch.isDropped) {
        if (this.#ended || this.#underWay >= PIECES_UNDER_WAY || !this.#hasRoom(fetch)) return
        fetch.place ??= this.#placeOf(lending, fetch)
        if (fetch.place !== undefined) this.#piece(lending, fetch, fetch.place)
      }
  }

  /** Those that began later do not overtake one that waits for room. */
  #hasRoom(fetch: Fetch): boolean {
    fetch.isIn ||= this.#room.enter(fetch.length)
    return fetch.isIn
  }

  /** Where there is no memory for it, it ends, and nothing else does. */
  #placeOf(lending: MemoryLending, fetch: Fetch): Place | undefined {
    try {
      return placeOf(lending, fetch)
    } catch (error) {
      fetch.isDropped = true
      fetch.shortage = error
      this.#finish(fetch)
      return undefined
    }
  }

  #piece(lending: MemoryLending, fetch: Fetch, { buffer }: Place): void {
    const offset = fetch.nextByte
    const length = Math.min(this.#pieceBytes, fetch.length - offset)
    const remote = { address: fetch.address + offset, key: fetch.key }
    lending.read({ buffer, offset, length }, remote, (error) => this.#came(fetch, error))
    fetch.nextByte += length
    fetch.underWay += 1
    this.#underWay += 1
  }

  #came(fetch: Fetch, error: unknown): void {
    this.#underWay -= 1
    fetch.underWay -= 1
    // One that fails has ended the link, or is about to.
    if (error !== undefined || this.#ended || this.#lending === undefined) return
    try {
      this.#advance(this.#lending)
      if (fetch.underWay > 0 || !(fetch.isDropped || fetch.nextByte === fetch.length)) return
      this.#finish(fetch)
      if (this.#fetches.size > 0) this.#advance(this.#lending)
    } catch (cause) {
      this.#link.destroy(cause instanceof Error ? cause : new MalformedFrameError(String(cause)))
    }
  }

  #finish(fetch: Fetch): void {
    const { frame, place, length, memory, isDropped } = fetch
    if (!this.#fetches.delete(frame.call)) return
    if (fetch.isIn) this.#room.left(length)
    const isOwn = memory === BodyMemory.Own
    // The registration is closed before the bytes are handed out.
    if (isOwn || isDropped) place?.giveBack()
    if (isDropped || place === undefined) {
      this.#done(frame, false, fetch.shortage)
      return
    }
    frame.setBody(place.buffer.bytes.subarray(0, length), memory)
    frame.budget = leftOf(frame.budget, performance.now() - fetch.begunAt)
    try {
      this.#done(frame, true, undefined)
    } finally {
      if (!isOwn) place.giveBack()
    }
  }
}

/** What is left of a budget, in whole microseconds. */
function leftOf(budget: number, takenMs: number): number {
  return budget === NO_BUDGET || budget === 0 ? budget : Math.max(1, Math.round((budget >>> 0) - takenMs * 1000)) | 0
}

/** If the device refuses, there is no caller left to tell. */
function giveBackAnyway(place: Place | undefined): void {
  try {
    place?.giveBack()
  } catch {
    // It goes with the device.
  }
}

function placeOf(lending: MemoryLending, { length, memory }: Fetch): Place {
  if (memory === BodyMemory.Own) {
    // All of it is written before it is visible.
    const buffer = lending.register(new Uint8Array(Buffer.allocUnsafeSlow(length).buffer))
    return { buffer, giveBack: () => buffer.close() }
  }
  const buffer = lending.take(length)
  return { buffer, giveBack: () => lending.giveBack(buffer) }
}

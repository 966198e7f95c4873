import { type KeyedWait, watchWaits } from '../profiling/index.ts'
import type { RingProtocol } from './ring-protocol.ts'
import { RoomWaiters } from './room-waiters.ts'
import type { SendLimiter } from './send-limit.ts'

let lastWatched = 0

/** The room that messages of one end need, in the ring and under a limit, and who waits for it. */
export class SendRoom {
  /** Called when more may leave than before, under the limit. */
  onAllowed: (() => void) | undefined
  readonly #ring: RingProtocol
  readonly #limiter: SendLimiter | undefined
  readonly #peerText: string
  readonly #settle: () => void
  readonly #waiters = new RoomWaiters()
  /** Set from the first wait on. */
  #unwatch: (() => void) | undefined

  /** The function `settle` has the link call `settle` here; it is called when the limit allows more. */
  constructor(ring: RingProtocol, limiter: SendLimiter | undefined, peerText: string, settle: () => void) {
    this.#ring = ring
    this.#limiter = limiter
    this.#peerText = peerText
    this.#settle = settle
  }

  /** A caller waits. */
  get isAwaited(): boolean {
    return this.#waiters.waiting
  }

  /** Resolves when there is room for a message of this length. */
  wait(length: number, signal: AbortSignal | undefined): Promise<void> {
    const room = this.#waiters.add(length, signal)
    this.#unwatch ??= this.#watch()
    return room
  }

  /** Tell those that have room now. The next one asks the peer for it, unless what is leaving here takes it. */
  settle(isLeaving: boolean): void {
    this.#ring.readCredit()
    this.#waiters.settle(this.#mayLeave)
    const { firstLength } = this.#waiters
    if (firstLength < 0) return
    const delayMs = this.#limiter?.delayMs(firstLength, 1) ?? 0
    if (delayMs > 0) this.wakeAfter(delayMs)
    if (!isLeaving && (delayMs === 0 || !this.#ring.outgoing.hasRoom(firstLength))) this.#ring.want()
  }

  readonly #mayLeave = (length: number, messages: number): boolean =>
    this.#ring.outgoing.hasRoom(length) &&
    (this.#limiter === undefined || this.#limiter.delayMs(length, messages) === 0)

  /** Call `onAllowed` after this delay, or earlier. */
  wakeAfter(delayMs: number): void {
    this.#limiter?.wakeAfter(delayMs, this.#allowed)
  }

  readonly #allowed = (): void => {
    this.#settle()
    this.onAllowed?.()
  }

  /** Those that wait wait no longer. */
  fail(error: unknown): void {
    this.#waiters.fail(error)
  }

  /** The limit wakes no caller any more, and none is watched. */
  close(): void {
    this.#limiter?.close()
    this.#unwatch?.()
  }

  /** Have the watchdog look at the one who waits longest, until the returned function is called. */
  #watch(): () => void {
    const name = `room ${++lastWatched}`
    return watchWaits((): KeyedWait[] => {
      const { first, firstLength } = this.#waiters
      const { outgoing } = this.#ring
      // What this end holds back by itself is not the peer's fault.
      if (firstLength < 0 || outgoing.hasRoom(firstLength)) return []
      const object = `room for a message of ${firstLength} bytes to ${this.#peerText}`
      const { outstanding, bytes } = outgoing
      const state = `the peer has not taken ${outstanding} bytes of what it was sent, in a ring of ${bytes.length}`
      const sinceNs = Number.POSITIVE_INFINITY
      return [{ key: `${name} ${first}`, kind: 'message', object, state, sinceNs, ranks: [], processes: [] }]
    })
  }
}

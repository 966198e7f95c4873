import { type KeyedWait, watchWaits } from '../profiling/index.ts'
import type { Stream } from './contract-types.ts'
import type { Session } from './session.ts'

/** The credit from the peer for a stream. */
export class Credit {
  #items: number
  #stopped = false
  #waiting: (() => void) | undefined

  constructor(items: number) {
    this.#items = items
  }

  add(items: number): void {
    this.#items += items
    this.#wake()
  }

  /** The peer wants no more. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /** Take credit for one item. Returns false if there is none, or the stream is not wanted. */
  tryTake(): boolean {
    if (this.#stopped || this.#items === 0) return false
    this.#items -= 1
    return true
  }

  /** Resolves when there is credit, or the stream is not wanted any more. */
  more(): Promise<void> {
    if (this.#stopped || this.#items > 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }
}

/** A stream whose peer has given no credit for the next item. */
interface Stall {
  readonly text: string
  readonly number: number
}

const stalls = new Set<Stall>()
let lastStall = 0
let isWatching = false

/**
 * One look for all of a thread, from the first stall on: beginning and ending to look costs more than most stalls last.
 */
function watchStalls(): void {
  if (isWatching) return
  isWatching = true
  watchWaits(function* (): Iterable<KeyedWait> {
    for (const { text, number } of stalls) {
      const [object, state] = [`leave to send the next item of ${text}`, 'the peer has not read what it was sent']
      yield {
        key: `stream ${number}`,
        kind: 'stream',
        object,
        state,
        sinceNs: Number.POSITIVE_INFINITY,
        ranks: [],
        processes: [],
      }
    }
  })
}

/** Waits for credit; the watchdog tells of it where that takes long. `text` names the stream. */
async function stalled(credit: Credit, text: string, peerText: string | undefined): Promise<void> {
  watchStalls()
  const stall = { text: peerText === undefined ? text : `${text} to ${peerText}`, number: ++lastStall }
  stalls.add(stall)
  try {
    await credit.more()
  } finally {
    stalls.delete(stall)
  }
}

/**
 * Send what `source` yields, as far as there is credit and the link has room. Resolves to true when all of it has been
 * sent, false if the peer wants no more; `source` is then told to end. `text` names the stream for the watchdog.
 * Rejects with errors of `source` or `send`.
 */
export async function pump(
  source: Stream<unknown>,
  credit: Credit,
  session: Session,
  text: string,
  send: (item: unknown) => void,
): Promise<boolean> {
  for await (const item of source) {
    while (!credit.tryTake()) {
      if (credit.stopped) return false
      await stalled(credit, text, session.link.peerText)
    }
    // Credit bounds the peer's memory; this bounds ours.
    if (session.waiting > 0) await session.emptied()
    if (credit.stopped || !session.open) return false
    send(item)
  }
  return !credit.stopped && session.open
}

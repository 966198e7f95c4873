import type { MessageTable } from './message-table.ts'
import { PairTable } from './pair-table.ts'

/**
 * What a channel between two nodes can hold, each content by a small number; 0 is the empty channel. Channels keep
 * their order.
 *
 * An *envelope* is a message with the pages that were pushed ahead of it, and for each whether its bytes were those
 * last stored.
 */
export class ChannelTable {
  readonly #pages: number
  readonly #messages: MessageTable
  readonly #contents: number[][] = []
  readonly #ids = new Map<string, number>()
  readonly #appended = new PairTable()
  readonly #rest: number[] = []
  readonly #stale: number[][] = []
  /** Masks of pages, for the invariants. */
  readonly #pushed: number[] = []
  readonly #pushedTwice: number[] = []
  readonly #pushedFresh: number[] = []
  readonly #about: number[] = []

  constructor(pages: number, messages: MessageTable) {
    this.#pages = pages
    this.#messages = messages
    this.#idOf([])
  }

  /** How many contents there are. */
  get size(): number {
    return this.#contents.length
  }

  envelope(message: number, pushed: number, fresh: number): number {
    return (((message << this.#pages) | pushed) << this.#pages) | fresh
  }

  messageOf(envelope: number): number {
    return envelope >>> (2 * this.#pages)
  }

  pushedWith(envelope: number): number {
    return (envelope >>> this.#pages) & (2 ** this.#pages - 1)
  }

  freshWith(envelope: number): number {
    return envelope & (2 ** this.#pages - 1)
  }

  append(id: number, envelope: number): number {
    const known = this.#appended.get(id, envelope)
    if (known >= 0) return known
    const next = this.#idOf([...this.#contents[id]!, envelope])
    this.#appended.set(id, envelope, next)
    return next
  }

  /** The first envelope of a channel that is not empty. */
  head(id: number): number {
    return this.#contents[id]![0]!
  }

  rest(id: number): number {
    this.#rest[id] ??= this.#idOf(this.#contents[id]!.slice(1))
    return this.#rest[id]!
  }

  /** The same, after a store to `page`: what is under way of it is not the last any more. */
  stale(id: number, page: number): number {
    const known = this.#stale[id]!
    known[page] ??= this.#idOf(this.#contents[id]!.map((envelope) => envelope & ~(1 << page)))
    return known[page]!
  }

  contents(id: number): readonly number[] {
    return this.#contents[id]!
  }

  /** Pages of which bytes are under way. */
  pushed(id: number): number {
    return this.#pushed[id]!
  }

  pushedTwice(id: number): number {
    return this.#pushedTwice[id]!
  }

  pushedFresh(id: number): number {
    return this.#pushedFresh[id]!
  }

  /** Pages of which some message is under way. */
  about(id: number): number {
    return this.#about[id]!
  }

  #idOf(content: number[]): number {
    const key = content.join()
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#contents.push(content) - 1
    this.#ids.set(key, id)
    this.#stale.push([])
    let [pushed, twice, fresh, about] = [0, 0, 0, 0]
    for (const envelope of content) {
      twice |= pushed & this.pushedWith(envelope)
      pushed |= this.pushedWith(envelope)
      fresh |= this.freshWith(envelope)
      about |= 1 << this.#messages.at(this.messageOf(envelope)).page
    }
    this.#pushed.push(pushed)
    this.#pushedTwice.push(twice)
    this.#pushedFresh.push(fresh)
    this.#about.push(about)
    return id
  }
}

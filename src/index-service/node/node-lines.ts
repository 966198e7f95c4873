import { connectLink } from '../../messaging/index.ts'
import { type Channel, openChannel } from '../../rpc/index.ts'
import { indexService, type NodeCard, type Place } from './index-contract.ts'

/** Bytes that wait for one node. What comes on top is lost. */
const WAITING_BYTES_MAX = 32 * 2 ** 20
/** Of messages that go together. */
const TOGETHER_BYTES = 256 * 1024
const CONNECT_MS = 2000
const TELL_MS = 10_000

/** What the lines of a node know of the others. */
export interface Neighbours {
  readonly rank: number
  readonly cards: readonly NodeCard[]
  /** Where a node is reached. */
  placeOf(card: NodeCard): Place | undefined
}

/**
 * Messages of a node to all others: each comes once at most, and in the order in which they were told. Those that come
 * up while others are on the way go together.
 */
export class NodeLines {
  readonly #neighbours: Neighbours
  readonly #lines = new Map<number, NodeLine>()

  constructor(neighbours: Neighbours) {
    this.#neighbours = neighbours
  }

  /** `to`: only to this one. */
  tell(message: Uint8Array, to?: number): void {
    const { rank, cards } = this.#neighbours
    for (const card of cards) {
      if (card.rank === rank || card.door === undefined || (to !== undefined && card.rank !== to)) continue
      const place = this.#neighbours.placeOf(card)
      if (place !== undefined) this.#lineTo(card.rank, place).tell(message)
    }
    if (this.#lines.size >= cards.length) this.#forgetGone(cards)
  }

  async close(): Promise<void> {
    const lines = [...this.#lines.values()]
    this.#lines.clear()
    await Promise.all(lines.map((line) => line.close()))
  }

  #lineTo(rank: number, place: Place): NodeLine {
    const known = this.#lines.get(rank)
    if (known !== undefined && samePlace(known.place, place)) return known
    void known?.close()
    const line = new NodeLine(place)
    this.#lines.set(rank, line)
    return line
  }

  #forgetGone(cards: readonly NodeCard[]): void {
    for (const [rank, line] of this.#lines) {
      if (cards.some((card) => card.rank === rank)) continue
      this.#lines.delete(rank)
      void line.close()
    }
  }
}

/** The way to one node. */
class NodeLine {
  readonly place: Place
  #messages: Uint8Array[] = []
  #bytes = 0
  #isTelling = false
  #channel: Channel | undefined
  readonly #closing = new AbortController()

  constructor(place: Place) {
    this.place = place
  }

  tell(message: Uint8Array): void {
    if (this.#bytes + message.length > WAITING_BYTES_MAX) return
    this.#messages.push(message)
    this.#bytes += message.length
    if (this.#isTelling) return
    this.#isTelling = true
    // All of this turn go together.
    setImmediate(() => void this.#tellAll())
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#channel?.close().catch(() => undefined)
  }

  async #tellAll(): Promise<void> {
    while (this.#messages.length > 0 && !this.#closing.signal.aborted) {
      const messages = this.#takeSome()
      try {
        const client = (await this.#open()).client(indexService)
        await client.hear({ messages }, { timeoutMs: TELL_MS, signal: this.#closing.signal })
      } catch {
        // They are lost, as it is with messages to those who are away.
        const channel = this.#channel
        this.#channel = undefined
        await channel?.close().catch(() => undefined)
      }
    }
    this.#isTelling = false
  }

  #takeSome(): readonly Uint8Array[] {
    let [count, bytes] = [0, 0]
    while (count < this.#messages.length && (count === 0 || bytes + this.#messages[count]!.length <= TOGETHER_BYTES)) {
      bytes += this.#messages[count]!.length
      count += 1
    }
    this.#bytes -= bytes
    return this.#messages.splice(0, count)
  }

  async #open(): Promise<Channel> {
    if (this.#channel !== undefined) return this.#channel
    const { device, address, port } = this.place
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(CONNECT_MS)])
    const link = await connectLink({ address, port, signal, ...(device === undefined ? {} : { device }) })
    this.#channel = openChannel(link)
    return this.#channel
  }
}

function samePlace(one: Place, other: Place): boolean {
  return one.device === other.device && one.address === other.address && one.port === other.port
}

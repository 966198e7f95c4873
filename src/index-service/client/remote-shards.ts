import { currentNsOf, defaultSettings } from '../../consensus/index.ts'
import type { NodeCard, Place, ShardMemory, ShardSight } from '../node/index-contract.ts'
import { type OpenReadLine, ReadLine } from './read-line.ts'
import { type RemoteNode, RemoteReads } from './remote-reads.ts'

/** What could not be read is tried again after this time. */
const AGAIN_MS = 1000
const CONNECT_MS_MAX = 2000

interface RemoteShard {
  /** Of what these reads were made from. */
  readonly name: string
  reads: RemoteReads | undefined
  isArranging: boolean
  againMs: number
}

/** Shards that are READ at nodes of other machines, and the connections for that. */
export class RemoteShards {
  readonly #ask: (card: NodeCard, shard: number) => Promise<ShardMemory | undefined>
  readonly #openLine: OpenReadLine
  readonly #shards = new Map<number, RemoteShard>()
  readonly #lines = new Map<string, Promise<ReadLine>>()
  readonly #closing = new AbortController()

  /** `ask` a node for what is READ of a shard there. It does not reject. */
  constructor(
    ask: (card: NodeCard, shard: number) => Promise<ShardMemory | undefined>,
    openLine: OpenReadLine = ReadLine.open,
  ) {
    this.#ask = ask
    this.#openLine = openLine
  }

  /** Undefined while they are not known, or cannot be. */
  readsOf(shard: number): RemoteReads | undefined {
    return this.#shards.get(shard)?.reads
  }

  /** Take note of a shard's leader, and of the nodes that hold it. */
  learn(sight: ShardSight, holders: readonly NodeCard[]): void {
    const { shard, leader, configuration } = sight
    const ranks = holders.map(({ rank, processId }) => `${rank} ${processId}`)
    const name = [leader, configuration?.version, ...ranks.sort()].join()
    const before = this.#shards.get(shard)
    const isWell = before?.reads === undefined ? performance.now() < (before?.againMs ?? 0) : !before.reads.isStale
    if (before?.name === name && (before.isArranging || isWell)) return
    const reads = before?.name === name ? before.reads : undefined
    const known: RemoteShard = { name, reads, isArranging: true, againMs: performance.now() + AGAIN_MS }
    this.#shards.set(shard, known)
    void this.#arrange(sight, holders)
      .catch(() => undefined)
      .then((made) => {
        known.isArranging = false
        known.reads = made
      })
  }

  close(): void {
    this.#closing.abort()
    for (const line of this.#lines.values())
      line.then(
        (opened) => opened.close(),
        () => undefined,
      )
    this.#lines.clear()
    this.#shards.clear()
  }

  async #arrange(sight: ShardSight, holders: readonly NodeCard[]): Promise<RemoteReads | undefined> {
    const { shard, configuration, isDurable } = sight
    if (configuration === undefined || sight.leader === undefined) return undefined
    const found = await Promise.all(
      holders.map(async (card) => ({ rank: card.rank, node: await this.#nodeAt(card, shard).catch(() => undefined) })),
    )
    const leader = found.find(({ rank }) => rank === sight.leader)?.node
    if (leader === undefined) return undefined
    const others = found.flatMap(({ node }) => (node === undefined || node === leader ? [] : [node]))
    const currentMs = isDurable ? currentNsOf(defaultSettings) / 1e6 : Number.POSITIVE_INFINITY
    const reads = new RemoteReads({ configuration, currentMs, leader, others })
    // Nodes that cannot be reached, or do not know of a new replica yet, are asked again.
    if (!reads.hasMajority) return undefined
    await reads.begin()
    return reads
  }

  async #nodeAt(card: NodeCard, shard: number): Promise<RemoteNode | undefined> {
    const memory = await this.#ask(card, shard)
    return memory && { memory, line: await this.#lineTo(memory.place) }
  }

  async #lineTo(place: Place): Promise<ReadLine> {
    const name = `${place.address}/${place.port}`
    for (let known = this.#lines.get(name); known !== undefined; known = this.#lines.get(name)) {
      const before = await known.catch(() => undefined)
      if (before?.isOver === false) return before
      // Another shard may have begun with the next one meanwhile.
      if (this.#lines.get(name) === known) this.#lines.delete(name)
    }
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(CONNECT_MS_MAX)])
    const line = this.#openLine(place, signal)
    this.#lines.set(name, line)
    const opened = await line
    if (this.#closing.signal.aborted) opened.close()
    return opened
  }
}

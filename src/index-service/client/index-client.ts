import { setTimeout as sleep } from 'node:timers/promises'
import { connectLink, type MessageLink } from '../../messaging/index.ts'
import { type Channel, type Client, openChannel, RpcError } from '../../rpc/index.ts'
import type { Reply } from '../commands/reply.ts'
import { IndexError } from '../errors.ts'
import type { Looked } from '../looked.ts'
import { type IndexSight, indexService, type NodeCard, type Place } from '../node/index-contract.ts'
import type { CallLimits, IndexPort } from '../port.ts'
import type { Call, Watched } from '../state/shard-command.ts'
import { ForeignReads } from './foreign-reads.ts'

type NodeClient = Client<typeof indexService>

/** How long to look for a node before the next try. */
const LOOK_MS_MAX = 5000
/** Between two tries to find a node, or a leader. */
const AGAIN_MS = 20
/** What a client knows of the index is asked for again after this time if it was of no use. */
const STALE_MS = 50

/** A node that this client talks to. */
interface Met {
  readonly place: Place
  readonly channel: Channel
  readonly client: NodeClient
}

export interface ClientOptions {
  /** Of the index, for messages. */
  readonly name: string
  /** Where nodes may be found now. */
  readonly places: () => readonly Place[]
  /** Clients of other machines meet nodes elsewhere than those of the same. */
  readonly isHere: boolean
}

/**
 * An index from outside. Calls go to the leader's node, and to another one if it cannot be reached. What may have taken
 * effect is not repeated.
 */
export class IndexClient implements IndexPort {
  readonly #options: ClientOptions
  readonly #met = new Map<string, Met>()
  #sight: IndexSight | undefined
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  #reads: ForeignReads | undefined
  readonly #closing = new AbortController()

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Find a node, and learn from it what there is. @throws IndexError `ERR_AETHER_INDEX_UNREACHABLE` */
  async begin(limits: CallLimits): Promise<void> {
    await this.#anyNode(limits)
  }

  async run(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    limits: CallLimits,
  ): Promise<readonly Reply[] | null> {
    return await this.#ask(limits, false, (client, options) => client.run({ calls, watched }, options))
  }

  async read(calls: readonly Call[], limits: CallLimits): Promise<readonly Reply[]> {
    return await this.#ask(limits, true, (client, options) => client.read(calls, options))
  }

  async versions(keys: readonly Uint8Array[], limits: CallLimits): Promise<readonly number[]> {
    return await this.#ask(limits, true, (client, options) => client.versions(keys, options))
  }

  async wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    const limits = { timeoutMs: waitMs === 0 ? Number.POSITIVE_INFINITY : waitMs + LOOK_MS_MAX, signal }
    return await this.#ask(limits, false, (client, options) => client.wait({ call, waitMs }, options))
  }

  lookAt(key: Uint8Array): Looked | undefined {
    const looked = this.#reads?.string(key)
    if (looked === undefined) this.#lookAgain()
    return looked
  }

  lookAtField(key: Uint8Array, field: Uint8Array): Looked | undefined {
    const looked = this.#reads?.field(key, field)
    if (looked === undefined) this.#lookAgain()
    return looked
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#reads?.close()
    this.#reads = undefined
    await Promise.all([...this.#met.values()].map(({ channel }) => channel.close()))
  }

  /** Ask the leader's node, or another one; again, as long as nothing was done and there is time. */
  async #ask<T>(
    { timeoutMs, signal }: CallLimits,
    isRead: boolean,
    ask: (client: NodeClient, options: { timeoutMs: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const endMs = performance.now() + timeoutMs
    const ends = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    for (let failed: unknown; ; ) {
      this.#checkOpen()
      signal?.throwIfAborted()
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) throw this.#unreachable(failed, 'not-applied')
      const node = await this.#anyNode({ timeoutMs: leftMs, signal: ends })
      if (this.#sight?.leader === undefined) this.#lookAgain()
      try {
        return await ask(node.client, { timeoutMs: Math.max(1, endMs - performance.now()), signal: ends })
      } catch (error) {
        this.#checkOpen()
        signal?.throwIfAborted()
        if (indexService.isError(error, 'busy')) throw busy(error.details.inFlight)
        if (!(error instanceof RpcError)) throw error
        if (error.outcome === 'failed') throw asTold(error)
        this.#forget(node)
        if (error.outcome === 'unknown' && !isRead) throw this.#unreachable(error, 'unknown')
        failed = error
        await sleep(AGAIN_MS)
      }
    }
  }

  /** A connection to the leader's node, if it is known, or to any. */
  async #anyNode({ timeoutMs, signal }: CallLimits): Promise<Met> {
    const endMs = performance.now() + timeoutMs
    for (;;) {
      const node = this.#best()
      if (node !== undefined) return node
      await this.#lookNow(Math.min(LOOK_MS_MAX, endMs - performance.now()))
      this.#checkOpen()
      signal?.throwIfAborted()
      if (this.#best() !== undefined) continue
      if (performance.now() > endMs) throw this.#unreachable(undefined, 'not-applied')
      await sleep(AGAIN_MS)
    }
  }

  #best(): Met | undefined {
    const leader = this.#sight?.nodes.find(({ rank }) => rank === this.#sight?.leader)
    const place = leader && this.#placeOf(leader)
    const best = place && this.#met.get(keyOf(place))
    return best ?? this.#met.values().next().value
  }

  #placeOf({ here, beyond }: NodeCard): Place | undefined {
    return this.#options.isHere ? here : beyond
  }

  /** Ask a node which nodes there are and who leads, and connect to that one. */
  async #look(timeoutMs: number): Promise<void> {
    this.#lookedMs = performance.now()
    const known = this.#sight?.nodes.flatMap((card) => this.#placeOf(card) ?? []) ?? []
    for (const place of [...known, ...this.#options.places()]) {
      const met = await this.#meet(place, timeoutMs)
      const sight = await met?.client.look(undefined, { timeoutMs: LOOK_MS_MAX }).catch(() => undefined)
      if (this.#closing.signal.aborted) return
      if (met === undefined || sight === undefined) continue
      this.#sight = sight
      if (this.#options.isHere) {
        this.#reads?.close()
        this.#reads = new ForeignReads(sight)
      }
      const leader = sight.nodes.find(({ rank }) => rank === sight.leader)
      const best = leader && this.#placeOf(leader)
      if (best !== undefined) await this.#meet(best, timeoutMs)
      return
    }
  }

  async #meet(place: Place, timeoutMs: number): Promise<Met | undefined> {
    const key = keyOf(place)
    const known = this.#met.get(key)
    if (known !== undefined) return known
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))])
    const { device, address, port } = place
    let link: MessageLink
    try {
      link = await connectLink({ address, port, signal, ...(device === undefined ? {} : { device }) })
    } catch {
      // No node is there, or not in time.
      return undefined
    }
    const channel = openChannel(link)
    const met = { place, channel, client: channel.client(indexService) }
    this.#met.set(key, met)
    return met
  }

  #forget({ place, channel }: Met): void {
    this.#met.delete(keyOf(place))
    channel.close().catch(() => undefined)
    // Its part is over, perhaps for all.
    if (this.#sight !== undefined) this.#sight = { ...this.#sight, leader: undefined }
  }

  /** What this client knows is of no use: voters or the leader have changed. */
  #lookAgain(): void {
    if (this.#looking !== undefined || this.#closing.signal.aborted) return
    if (performance.now() - this.#lookedMs < STALE_MS) return
    void this.#lookNow(LOOK_MS_MAX)
  }

  /** One look at a time. */
  #lookNow(timeoutMs: number): Promise<void> {
    this.#looking ??= this.#look(timeoutMs).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted)
      throw new IndexError('CLOSED', `the client of index '${this.#options.name}' is closed`)
  }

  #unreachable(cause: unknown, outcome: 'not-applied' | 'unknown'): IndexError {
    const { name } = this.#options
    const message =
      outcome === 'unknown'
        ? `the connection to the node of index '${name}' ended before the answer came; look whether the write has taken effect`
        : `no node of index '${name}' can be reached; start one with 'aether serve ${name}'`
    return new IndexError('UNREACHABLE', message, { cause, outcome })
  }
}

function keyOf({ device, address, port }: Place): string {
  return `${device ?? ''}/${address}/${port}`
}

function busy(inFlight: number): IndexError {
  const message = `the node has ${inFlight} calls under way, which is all that it takes; try again in a moment`
  return new IndexError('BUSY', message, { outcome: 'not-applied' })
}

/** A handler has failed: its error has crossed as text. */
function asTold(error: RpcError): Error {
  return error
}

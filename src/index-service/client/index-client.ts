import { setTimeout as sleep } from 'node:timers/promises'
import { thisMachine } from '../../cluster/index.ts'
import { MalformedFrameError, RpcError } from '../../rpc/index.ts'
import { timerDelay } from '../../runtime/index.ts'
import { Admission } from '../admission.ts'
import { IndexError, type IndexOutcome } from '../errors.ts'
import {
  type HotKeysRequest,
  type IndexNodeFigures,
  type IndexSight,
  indexService,
  type NodeCard,
  type NodesHotKeys,
  type NodesSlowCalls,
  type Place,
  placeOfNode,
  type ShardMemory,
  type ShardSight,
  type SlowCallsRequest,
} from '../node/index-contract.ts'
import type { CallLimits, IndexPort, ShardPort } from '../port.ts'
import { type ClientLine, type ConnectLine, connectLine, type NodeClient } from './client-line.ts'
import { ForeignReads } from './foreign-reads.ts'
import { NodeEnds } from './node-ends.ts'
import type { OpenReadLine } from './read-line.ts'
import type { RemoteReads } from './remote-reads.ts'
import { RemoteShards } from './remote-shards.ts'
import { ShardClient } from './shard-client.ts'

/** How long to look for a node before the next try. */
const LOOK_MS_MAX = 5000
/** Between two tries to find a node, or a leader. */
const AGAIN_MS = 20
/** How long a node may take to say what is READ of it. */
const MEMORY_MS_MAX = 1000
/** What a client knows of the index is asked for again after this time if it was of no use. */
const STALE_MS = 50

/** A node that this client talks to. */
interface Met {
  readonly place: Place
  readonly line: ClientLine
  readonly client: NodeClient
  /** Calls that wait for its answers. */
  calls: number
  /** No more calls are sent there. */
  isForgotten: boolean
  /** Its process is not waited for any more; undefined where it is not watched. */
  unwatch: (() => void) | undefined
}

export interface ClientOptions {
  /** Of the index, for messages. */
  readonly name: string
  /** Where nodes may be found now. */
  readonly places: () => readonly Place[]
  /** Calls of a shard that are under way at a time. */
  readonly inFlightMax: number
  /** The machine that it is on, and how it connects to nodes; default: this one. */
  readonly machine?: string
  readonly connect?: ConnectLine
  readonly openReads?: OpenReadLine
}

/** What is known of a shard. */
interface KnownShard {
  readonly sight: ShardSight
  readonly reads: ForeignReads | undefined
}

/**
 * An index from outside. Calls go to the node of the shard's leader, and to another one that holds the shard if it
 * cannot be reached. What may have taken effect is not repeated.
 */
export class IndexClient implements IndexPort {
  readonly #options: ClientOptions
  readonly #machine: string
  readonly #met = new Map<string, Met>()
  /** Nodes that it connects to now. */
  readonly #meeting = new Map<string, Promise<Met | undefined>>()
  readonly #ends = new NodeEnds()
  #sight: IndexSight | undefined
  readonly #known = new Map<number, KnownShard>()
  readonly #clients = new Map<number, ShardClient>()
  readonly #remote: RemoteShards
  /** When each shard was looked for last, and looks under way. */
  readonly #lookedMs = new Map<number, number>()
  readonly #looking = new Map<number, Promise<void>>()
  /** Why a node could not be met last. */
  #unmet: unknown
  readonly #closing = new AbortController()

  constructor(options: ClientOptions) {
    this.#options = options
    this.#machine = options.machine ?? thisMachine().space
    const ask = async (card: NodeCard, shard: number): Promise<ShardMemory | undefined> => {
      const place = this.#placeOf(card)
      const met = place && (await this.#meet(place, MEMORY_MS_MAX))
      return await met?.client.memory({ shard }, { timeoutMs: MEMORY_MS_MAX }).catch(() => undefined)
    }
    this.#remote = new RemoteShards(ask, options.openReads)
  }

  /** Find a node, and learn from it what there is. @throws IndexError `ERR_AETHER_INDEX_UNREACHABLE` */
  async begin(limits: CallLimits): Promise<void> {
    this.#leave(await this.#nodeOf(0, limits))
  }

  get shards(): number {
    return this.#sight?.shards ?? 1
  }

  shard(number: number): ShardPort {
    const known = this.#clients.get(number)
    if (known !== undefined) return known
    const { name, inFlightMax } = this.#options
    const client = new ShardClient(this, number, new Admission({ name, callsMax: inFlightMax, shortens: true }))
    this.#clients.set(number, client)
    return client
  }

  figures(limits: CallLimits): Promise<readonly IndexNodeFigures[]> {
    return this.#ofEach(limits, (client, options) => client.figures(undefined, options))
  }

  slowCalls(request: SlowCallsRequest, limits: CallLimits): Promise<readonly NodesSlowCalls[]> {
    return this.#ofEach(limits, (client, options) => client.slow(request, options))
  }

  hotKeys(request: HotKeysRequest, limits: CallLimits): Promise<readonly NodesHotKeys[]> {
    return this.#ofEach(limits, (client, options) => client.hot(request, options))
  }

  /** What each node says that can be asked, by rank. */
  async #ofEach<T extends { readonly rank: number }>(
    { timeoutMs, signal }: CallLimits,
    ask: (client: NodeClient, options: { timeoutMs: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<readonly T[]> {
    this.#checkOpen()
    const known = [...this.#placesOf(this.#sight?.nodes ?? []), ...this.#options.places()]
    const places = [...new Map(known.map((place) => [keyOf(place), place])).values()]
    const ends = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
    const asked = await Promise.all(
      places.map(async (place) => {
        const met = await this.#meet(place, timeoutMs)
        return met && (await ask(met.client, { timeoutMs, signal: ends }).catch(() => undefined))
      }),
    )
    signal?.throwIfAborted()
    const byRank = new Map(asked.flatMap((answer) => (answer === undefined ? [] : [[answer.rank, answer] as const])))
    return [...byRank.values()].sort((one, other) => one.rank - other.rank)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const { reads } of this.#known.values()) reads?.close()
    this.#known.clear()
    this.#remote.close()
    this.#ends.close()
    await Promise.all([...this.#met.values()].map(({ line }) => line.close()))
  }

  /** Whether the leader of a shard is on this machine; while none is known, whether any node is. */
  isHere(shard: number): boolean {
    const leader = this.#known.get(shard)?.sight.leader
    const nodes = (this.#sight?.nodes ?? []).filter(({ rank }) => leader === undefined || rank === leader)
    return nodes.some(({ machine }) => machine === this.#machine)
  }

  /** The memory of a shard, if it is known here. */
  readsOf(shard: number): ForeignReads | undefined {
    return this.#known.get(shard)?.reads
  }

  /** READs of a shard that another machine leads. */
  remoteReadsOf(shard: number): RemoteReads | undefined {
    return this.#remote.readsOf(shard)
  }

  /** What this client knows of a shard is of no use: voters or the leader have changed. */
  lookAgain(shard: number): void {
    if (this.#closing.signal.aborted || this.#looking.has(shard)) return
    if (performance.now() - (this.#lookedMs.get(shard) ?? 0) >= STALE_MS) void this.#look(shard, LOOK_MS_MAX)
  }

  /** Ask the node of a shard's leader, or another one; again, as long as nothing was done and there is time. */
  async ask<T>(
    shard: number,
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
      const node = await this.#nodeOf(shard, { timeoutMs: leftMs, signal })
      try {
        return await ask(node.client, { timeoutMs: Math.max(1, endMs - performance.now()), signal: ends })
      } catch (error) {
        this.#checkOpen(isRead ? 'not-applied' : outcomeOf(error))
        signal?.throwIfAborted()
        if (indexService.isError(error, 'moved')) await this.#lookUntil(shard, endMs, signal)
        else if (isGone(error)) {
          this.#forget(node)
          if (error.outcome === 'unknown' && !isRead) throw this.#unreachable(error, 'unknown')
        } else throw asIndexError(error, isRead)
        failed = error
      } finally {
        this.#leave(node)
      }
      // Another node that is known is asked at once.
      if (!isGone(failed) || this.#best(shard) === undefined) await sleep(AGAIN_MS)
    }
  }

  /** What such a node sends in parts. Once it has begun, no other one goes on with it. @throws IndexError */
  async *stream<T>(
    shard: number,
    { timeoutMs }: CallLimits,
    open: (client: NodeClient, options: { signal: AbortSignal }) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    const endMs = performance.now() + timeoutMs
    for (let hasBegun = false; ; ) {
      const node = await this.#nodeOf(shard, { timeoutMs: endMs - performance.now(), signal: undefined })
      try {
        for await (const part of open(node.client, { signal: this.#closing.signal })) {
          hasBegun = true
          yield part
        }
        return
      } catch (error) {
        this.#checkOpen()
        if (isGone(error)) this.#forget(node)
        if (!indexService.isError(error, 'moved') && !isGone(error)) throw asIndexError(error, true)
        if (hasBegun || performance.now() > endMs) throw this.#unreachable(error, 'not-applied')
        await this.#look(shard, LOOK_MS_MAX)
      } finally {
        this.#leave(node)
      }
    }
  }

  /**
   * A connection to the node of the shard's leader, if it is known, or to any that holds it. It has a call from here on
   * until {@link #leave}: another call may find it gone before this one goes on.
   */
  async #nodeOf(shard: number, { timeoutMs, signal }: CallLimits): Promise<Met> {
    const endMs = performance.now() + timeoutMs
    for (;;) {
      const node = this.#best(shard)
      if (node !== undefined) {
        if (this.#known.get(shard)?.sight.leader === undefined) this.lookAgain(shard)
        node.calls += 1
        return node
      }
      await this.#lookUntil(shard, endMs, signal)
      this.#checkOpen()
      signal?.throwIfAborted()
      if (this.#best(shard) !== undefined) continue
      if (performance.now() > endMs || misunderstanding(this.#unmet) !== undefined)
        throw this.#unreachable(this.#unmet, 'not-applied')
      await sleep(AGAIN_MS)
    }
  }

  #leave(node: Met): void {
    node.calls -= 1
    this.#closeForgotten(node)
  }

  #best(shard: number): Met | undefined {
    for (const card of this.#holders(shard)) {
      const place = this.#placeOf(card)
      const met = place && this.#met.get(keyOf(place))
      if (met !== undefined) return met
    }
    return undefined
  }

  /** The leader first, unless it has just been silent: then last. */
  #holders(shard: number): readonly NodeCard[] {
    const holders = (this.#sight?.nodes ?? []).filter(({ holds }) => holds.some((held) => held.shard === shard))
    const leader = this.#known.get(shard)?.sight.leader
    const sign = this.#remote.readsOf(shard)?.isLeaderSilent === true ? 1 : -1
    return holders.sort((one, other) => sign * (Number(one.rank === leader) - Number(other.rank === leader)))
  }

  #placeOf(card: NodeCard): Place | undefined {
    return placeOfNode(card, this.#machine)
  }

  /** A call waits for the look until then, or until its signal aborts. The look goes on for others. */
  async #lookUntil(shard: number, endMs: number, signal: AbortSignal | undefined): Promise<void> {
    const leftMs = endMs - performance.now()
    const isDone = new AbortController()
    const ends = signal === undefined ? isDone.signal : AbortSignal.any([signal, isDone.signal])
    const isLate = sleep(timerDelay(leftMs), undefined, { signal: ends }).catch(() => undefined)
    await Promise.race([this.#look(shard, Math.min(LOOK_MS_MAX, leftMs)), isLate])
    isDone.abort()
  }

  /** One look for a shard at a time. */
  #look(shard: number, timeoutMs: number): Promise<void> {
    const known = this.#looking.get(shard)
    if (known !== undefined) return known
    const look = this.#lookNow(shard, timeoutMs)
      // What cannot be read now may be later.
      .catch((error: unknown) => {
        this.#unmet = error
      })
      .finally(() => this.#looking.delete(shard))
    this.#looking.set(shard, look)
    return look
  }

  /** Ask nodes which there are and which hold the shard, and one of those who leads it. Connect to that one. */
  async #lookNow(shard: number, timeoutMs: number): Promise<void> {
    this.#lookedMs.set(shard, performance.now())
    const asked = new Set<string>()
    const places = [...this.#placesOf(this.#holders(shard)), ...this.#placesOf(this.#sight?.nodes ?? [])]
    places.push(...this.#options.places())
    for (let next = places.shift(); next !== undefined; next = places.shift()) {
      if (asked.has(keyOf(next))) continue
      asked.add(keyOf(next))
      const met = await this.#meet(next, timeoutMs)
      const sight = await met?.client
        .look(undefined, { timeoutMs: LOOK_MS_MAX })
        .catch((error: unknown) => this.#unseen(met, error))
      if (this.#closing.signal.aborted) return
      if (sight === undefined) continue
      this.#sight = sight
      for (const known of this.#met.values()) this.#watch(known)
      const found = sight.held.find((each) => each.shard === shard)
      if (found !== undefined) {
        await this.#learn(found, sight, timeoutMs)
        return
      }
      places.unshift(...this.#placesOf(this.#holders(shard)))
    }
  }

  /** A node does not say what there is. One that has ended is met again: another may be in its place. */
  #unseen(met: Met, error: unknown): undefined {
    this.#unmet = error
    if (isGone(error)) this.#forget(met)
  }

  async #learn(found: ShardSight, { machine, nodes }: IndexSight, timeoutMs: number): Promise<void> {
    this.#known.get(found.shard)?.reads?.close()
    const here = nodes.filter((card) => card.machine === this.#machine)
    const reads = machine === this.#machine ? ForeignReads.mapped(found, here) : undefined
    this.#known.set(found.shard, { sight: found, reads })
    const leader = nodes.filter(({ rank }) => rank === found.leader)
    for (const place of this.#placesOf(leader)) await this.#meet(place, timeoutMs)
    if (leader.some((card) => card.machine !== this.#machine)) this.#remote.learn(found, this.#holders(found.shard))
  }

  #placesOf(nodes: readonly NodeCard[]): Place[] {
    return nodes.flatMap((card) => this.#placeOf(card) ?? [])
  }

  /** Looks for several shards may come to a node at the same time. */
  async #meet(place: Place, timeoutMs: number): Promise<Met | undefined> {
    const key = keyOf(place)
    const known = this.#met.get(key) ?? this.#meeting.get(key)
    if (known !== undefined) return known
    const meeting = this.#connect(place, timeoutMs).finally(() => this.#meeting.delete(key))
    this.#meeting.set(key, meeting)
    return await meeting
  }

  async #connect(place: Place, timeoutMs: number): Promise<Met | undefined> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timerDelay(timeoutMs))])
    const { connect = connectLine } = this.#options
    let line: ClientLine
    try {
      line = await connect(place, signal)
    } catch (error) {
      // No node is there, or not in time.
      this.#unmet = error
      return undefined
    }
    const met: Met = { place, line, client: line.client, calls: 0, isForgotten: false, unwatch: undefined }
    this.#met.set(keyOf(place), met)
    this.#watch(met)
    return met
  }

  /** Its end is seen at once where it is a node of this machine that is known by now. */
  #watch(met: Met): void {
    if (met.unwatch !== undefined || this.#closing.signal.aborted) return
    const card = this.#cardOf(met)
    if (card?.machine === this.#machine) met.unwatch = this.#ends.watch(card, () => this.#ended(met))
  }

  #ended(met: Met): void {
    // What it has answered lies in the ring.
    met.line.poll()
    this.#forget(met)
    met.line.destroy(new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', 'unknown', '', 'the process of the node has ended'))
  }

  #cardOf({ place }: Met): NodeCard | undefined {
    return this.#sight?.nodes.find((card) => this.#placesOf([card]).some((each) => keyOf(each) === keyOf(place)))
  }

  /** It cannot be reached; others may lead what it has led. */
  #forget(met: Met): void {
    const { place } = met
    if (this.#met.get(keyOf(place)) === met) this.#met.delete(keyOf(place))
    met.isForgotten = true
    met.unwatch?.()
    this.#closeForgotten(met)
    const gone = this.#cardOf(met)
    for (const [shard, { sight, reads }] of this.#known)
      if (sight.leader === gone?.rank) this.#known.set(shard, { sight: { ...sight, leader: undefined }, reads })
  }

  /** A node that leaves still answers the calls that it has. */
  #closeForgotten({ isForgotten, calls, line }: Met): void {
    if (isForgotten && calls === 0) line.close().catch(() => undefined)
  }

  /** `outcome`: of a call that has begun. */
  #checkOpen(outcome: IndexOutcome = 'not-applied'): void {
    if (this.#closing.signal.aborted)
      throw new IndexError('CLOSED', `the client of index '${this.#options.name}' is closed`, { outcome })
  }

  #unreachable(cause: unknown, outcome: IndexOutcome): IndexError {
    const { name } = this.#options
    const misunderstood = misunderstanding(cause)
    const unasked =
      misunderstood === undefined
        ? `no node of index '${name}' can be reached; start one: npx aether-dsm serve ${name}`
        : `the node of index '${name}' is of another version: ${misunderstood.message}`
    const message =
      outcome === 'unknown'
        ? `the connection to the node of index '${name}' ended before the answer came; look whether the write has taken effect`
        : unasked
    return new IndexError('UNREACHABLE', message, { cause, outcome })
  }
}

function keyOf({ device, address, port }: Place): string {
  return `${device ?? ''}/${address}/${port}`
}

/** The connection to the node is of no use any more. */
function isGone(error: unknown): error is RpcError {
  return error instanceof RpcError && GONE.has(error.code)
}

/**
 * A node that does not understand this client, or the other way round, as the cause of an error. That does not change.
 */
function misunderstanding(error: unknown): MalformedFrameError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof MalformedFrameError) return cause
  return undefined
}

const GONE: ReadonlySet<string> = new Set([
  'ERR_AETHER_RPC_CONNECTION_LOST',
  'ERR_AETHER_RPC_UNAVAILABLE',
  'ERR_AETHER_RPC_DRAINING',
])

/** What has become of a write whose call ended with this error. */
function outcomeOf(error: unknown): IndexOutcome {
  const isUndone = error instanceof RpcError && (error.outcome === 'not-sent' || error.outcome === 'refused')
  return isUndone || indexService.isError(error, 'moved') ? 'not-applied' : 'unknown'
}

function asIndexError(error: unknown, isRead: boolean): unknown {
  if (indexService.isError(error, 'failed')) {
    const { kind, message, outcome } = error.details
    return new IndexError(kind, message, { cause: error, outcome })
  }
  if (!(error instanceof RpcError)) return error
  const outcome = isRead ? 'not-applied' : outcomeOf(error)
  // A handler has run, and this machine has no memory for its answer.
  if (error.code === 'ERR_AETHER_RPC_OVERLOADED')
    return new IndexError(error.outcome === 'failed' ? 'MEMORY' : 'BUSY', error.message, { cause: error, outcome })
  if (error.code !== 'ERR_AETHER_RPC_DEADLINE')
    return new IndexError('UNREACHABLE', `the node gave no answer: ${error.message}`, { cause: error, outcome })
  return new IndexError('TIMEOUT', 'the node did not answer in time; it may be stopped or busy', {
    cause: error,
    outcome,
  })
}

import { type AppendPolicy, FIRST_FORMAT } from '../../consensus/index.ts'
import { ownLife } from '../../runtime/index.ts'
import { Admission } from '../admission.ts'
import { IndexClient } from '../client/index-client.ts'
import { READ_DEVICE } from '../client/read-line.ts'
import { COMMAND_FORMAT } from '../commands/table.ts'
import type { CallLimits, IndexPort, ShardPort } from '../port.ts'
import type { KeyListeners, OnKeyChange, OnKeyEvent } from '../state/key-events.ts'
import type { Call } from '../state/shard-command.ts'
import type { EvictionSettings } from './eviction-policy.ts'
import { HandOvers } from './hand-overs.ts'
import { mostUsed } from './hot-keys.ts'
import {
  type HotKeysRequest,
  type IndexNodeFigures,
  type IndexSight,
  type NodeCard,
  type NodesHotKeys,
  type NodesSlowCalls,
  type Place,
  placeOfNode,
  type ShardMemory,
  type SlowCallsRequest,
} from './index-contract.ts'
import { IndexMeter, ShardState, type ShardStateNumber } from './index-meter.ts'
import type { IndexServer } from './index-server.ts'
import { KeptShards } from './kept-shards.ts'
import type { ListenPlace } from './listen-place.ts'
import { type NodeGroup, type NodeHost, thisHost } from './node-host.ts'
import { NodeLines } from './node-lines.ts'
import { NodeMembers } from './node-members.ts'
import { holdersOf, leaderWanted, mayLeave } from './placement.ts'
import type { NodeReads } from './read-listener.ts'
import { ShardReplica } from './shard-replica.ts'
import { SlowLog } from './slow-log.ts'

/** What a node is opened with. */
export interface NodeOptions {
  readonly name: string
  readonly shards: number
  readonly replicas: number
  readonly directory: string | undefined
  readonly append: AppendPolicy
  /** Of all shards that it holds. */
  readonly memoryBytes: number
  readonly eviction: EvictionSettings
  readonly listen: ListenPlace | undefined
  readonly inFlightMax: number
  readonly thread: 'own' | 'program'
  readonly spinMs: number
  /** Calls that take at least as long are noted; negative: none is. */
  readonly slowerThanUs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Is told what happens to keys of the shards that are held here. */
  readonly onEvent: OnKeyEvent | undefined
}

type OnShardChange = (shard: number, key: Uint8Array | undefined, origin: number | undefined) => void

/** How often a node looks whether it is to hold other shards. */
const LOOK_MS = 250

/**
 * A member's part of an index: replicas of the shards that it holds, and a server for clients. What it does not hold it
 * asks for as a client does.
 *
 * Each shard is held by as many members as are to vote, chosen by {@link holdersOf}. When members come or go, a shard
 * moves like this:
 *
 * 1. A member that is to hold it opens it, and follows its log. When it has everything, its card says so.
 * 2. Once the cards of all that are to hold it say so, one that is not to hold it any more leaves the log. Of several,
 *    the one with the lowest rank does; the next one waits until that one has been replaced: see {@link mayLeave}.
 *    It votes until another votes in its place: the one that follows. If there is none, it stays.
 *
 * So a shard always has as many replicas as voters are wanted, and at least a majority of them votes. Leaders are
 * spread over the holders: one that leads a shard which another is to lead hands it over, one at a time.
 *
 * A node that begins opens whatever its directory has logs of, too. Its rank is another one than before, and so it may
 * not be to hold them. But they may be a majority's, without which no other member has what was answered.
 */
export class IndexNode implements IndexPort, AsyncDisposable {
  readonly name: string
  readonly shards: number
  readonly rank: number
  /** Is told what happens to keys of shards that are held here. */
  keyListener: OnKeyEvent | undefined
  /** Is told of changes of keys of shards that are held here, see {@link OnKeyChange}. */
  changeListener: OnShardChange | undefined
  /** What took long of what its clients called, those of Redis included. */
  readonly slowLog: SlowLog
  readonly #group: NodeGroup
  readonly #host: NodeHost
  readonly #options: NodeOptions
  readonly #machine: string
  readonly #kept: KeptShards | undefined
  readonly #replicas = new Map<number, ShardReplica>()
  /** Shards that are being opened or closed. */
  readonly #changing = new Map<number, Promise<void>>()
  /** The same, and those of the beginning, as they are shown. */
  readonly #moving = new Map<number, ShardStateNumber>()
  readonly #meter: IndexMeter
  /** Why shards that are to be held here are not. */
  readonly #failures = new Map<number, unknown>()
  readonly #remote: IndexClient
  readonly #lines: NodeLines
  readonly #listeners = new Set<(message: Uint8Array) => void>()
  #server!: Pick<IndexServer, 'here' | 'beyond' | 'close'>
  /** Undefined where no other machine READs. */
  #reads: NodeReads | undefined
  #members!: NodeMembers
  #hide: () => void = () => undefined
  #looker: NodeJS.Timeout | undefined
  #isHandingOver = false
  /** Counts the attempts, so that a shard whose wanted leader cannot lead is not in the way of others. */
  #attempts = 0
  readonly #handOvers = new HandOvers()
  #eviction: EvictionSettings
  #door: Place | undefined
  readonly #stop = new AbortController()
  #closing: Promise<void> | undefined

  private constructor(group: NodeGroup, options: NodeOptions, host: NodeHost) {
    this.#host = host
    this.#machine = host.machine
    this.name = options.name
    this.shards = options.shards
    this.rank = group.rank
    this.#group = group
    this.#options = options
    this.keyListener = options.onEvent
    this.slowLog = new SlowLog(options.slowerThanUs)
    this.#meter = new IndexMeter(options.name)
    this.#eviction = options.eviction
    const { name, inFlightMax, directory } = options
    this.#kept = directory === undefined ? undefined : new KeptShards(directory, options.shards)
    const { machine, connect, openReads } = host
    this.#remote = new IndexClient({ name, inFlightMax, places: () => this.#places(), machine, connect, openReads })
    const cards = (): readonly NodeCard[] => this.#members.cards
    this.#lines = new NodeLines({
      rank: group.rank,
      get cards() {
        return cards()
      },
      placeOf: (card) => placeOfNode(card, this.#machine),
    })
  }

  /** @throws ConsensusError if no leader is elected in time, or for what is wrong with the directory. */
  static async open(group: NodeGroup, options: NodeOptions, host: NodeHost = thisHost): Promise<IndexNode> {
    const node = new IndexNode(group, options, host)
    try {
      await node.#open()
      return node
    } catch (error) {
      await node.close()
      throw error
    }
  }

  /** Where clients of other machines come. */
  get beyond(): Place | undefined {
    return this.#server.beyond
  }

  /** The shards that are held here, and have everything. */
  get held(): ReadonlyMap<number, ShardReplica> {
    return this.#replicas
  }

  /** Why shards that are to be held here are not, by shard. */
  get failures(): ReadonlyMap<number, unknown> {
    return this.#failures
  }

  /** All that are known, with this one. */
  get nodes(): readonly NodeCard[] {
    return this.#members.cards
  }

  /** Rank of a shard's leader; undefined while no leader is known, and of a shard that is not held here. */
  leaderOf(shard: number): number | undefined {
    return this.#replicas.get(shard)?.leader
  }

  /** What keys and values of all shards may take here. */
  get memoryBytes(): number {
    return this.#options.memoryBytes
  }

  /** When the disk has what was written; undefined: nothing is kept on a disk. */
  get append(): AppendPolicy | undefined {
    return this.#options.directory === undefined ? undefined : this.#options.append
  }

  /** What becomes of keys when the memory is full, as far as this node writes. */
  get eviction(): EvictionSettings {
    return this.#eviction
  }

  set eviction(settings: EvictionSettings) {
    this.#eviction = settings
    for (const replica of this.#replicas.values()) replica.evict(this.#evictionOfShard)
  }

  get #evictionOfShard(): EvictionSettings {
    const { boundBytes } = this.#eviction
    return { ...this.#eviction, boundBytes: boundBytes && Math.ceil(boundBytes / this.shards) }
  }

  /** Tell all nodes where clients of Redis come to this one. */
  showDoor(door: Place): void {
    this.#door = door
    this.#members.tell(this.#card())
  }

  /** Send a message to all other nodes with a door. Each has it once at most, and in the order of these calls. */
  tellNodes(message: Uint8Array): void {
    if (this.#closing === undefined) this.#lines.tell(message)
  }

  /** The same to one other node with a door. */
  tellNode(rank: number, message: Uint8Array): void {
    if (this.#closing === undefined) this.#lines.tell(message, rank)
  }

  /** Be told what other nodes tell all, or this one, until the returned function is called. */
  onTold(listener: (message: Uint8Array) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @internal For the server. */
  hear(message: Uint8Array): void {
    for (const listener of this.#listeners) listener(message)
  }

  shard(number: number): ShardPort {
    return this.#replicas.get(number) ?? this.#remote.shard(number)
  }

  look(): IndexSight {
    const held = [...this.#replicas].map(([shard, replica]) => ({ ...replica.readers, shard, leader: replica.leader }))
    return { name: this.name, shards: this.shards, machine: this.#machine, nodes: this.#members.cards, held }
  }

  ownFigures(): IndexNodeFigures {
    const shards = [...this.#replicas].map(([shard, { leader, figures }]) => {
      const { keys, expiring, waiting, evicted, usedBytes, heldBytes } = figures
      return { shard, leader, keys, expiring, waiting, evicted, usedBytes, heldBytes }
    })
    const { rank, memoryBytes, slowLog } = this
    return { rank, processId: process.pid, memoryBytes, slow: slowLog.count, shards }
  }

  async figures(limits: CallLimits): Promise<readonly IndexNodeFigures[]> {
    return withOwn(this.ownFigures(), await this.#remote.figures(limits))
  }

  ownSlowCalls(request?: SlowCallsRequest): NodesSlowCalls {
    const calls = this.slowLog.entries
    if (request?.reset === true) this.slowLog.reset()
    return { rank: this.rank, calls }
  }

  async slowCalls(request: SlowCallsRequest, limits: CallLimits): Promise<readonly NodesSlowCalls[]> {
    return withOwn(this.ownSlowCalls(request), await this.#remote.slowCalls(request, limits))
  }

  /** What other machines READ of a shard; undefined if that cannot be. */
  memoryOf(shard: number): ShardMemory | undefined {
    const reads = this.#reads
    const memory = reads && this.#replicas.get(shard)?.memoryIn(() => reads.regions(shard))
    return memory && { ...memory, place: reads.place }
  }

  async ownHotKeys(request: HotKeysRequest, signal: AbortSignal): Promise<NodesHotKeys> {
    const found = await Promise.all([...this.#replicas.values()].map((replica) => replica.hotKeys(request, signal)))
    return { rank: this.rank, keys: mostUsed(found.flat(), request.count) }
  }

  async hotKeys(request: HotKeysRequest, limits: CallLimits): Promise<readonly NodesHotKeys[]> {
    const { signal = this.#stop.signal } = limits
    const [own, others] = await Promise.all([this.ownHotKeys(request, signal), this.#remote.hotKeys(request, limits)])
    return withOwn(own, others)
  }

  /** Those that another node runs are noted there. */
  callsEnded(shard: ShardPort, calls: readonly Call[], tookMs: number): void {
    if (shard instanceof ShardReplica) this.slowLog.ended(calls, tookMs, `node ${this.rank}`)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #open(): Promise<void> {
    const { listen, timeoutMs, signal } = this.#options
    this.#server = await this.#host.serve(this, { listen })
    const device = this.#group.oneMachine ? READ_DEVICE : this.#group.device
    this.#reads = await this.#host.listenForReads(listen, device)
    this.#members = new NodeMembers(this.#group, this.name, this.#card())
    const wanted = this.#wanted()
    const limits = {
      timeoutMs,
      signal: signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]),
    }
    for (const shard of this.#kept?.here ?? [])
      if (!wanted.includes(shard)) this.#change(shard, this.#openShard(shard, this.#untilClosed))
    const opened = wanted.map((shard) => this.#openShard(shard, limits))
    this.#show()
    try {
      await Promise.all(opened)
    } catch (error) {
      // The others are not left behind: those that open are closed with the node.
      this.#stop.abort()
      await Promise.allSettled(opened)
      throw error
    }
    this.#show()
    this.#hide = this.#host.show(this.name, this.rank, this.#server.here)
    this.#looker = setInterval(() => {
      this.#move()
      this.#show()
    }, LOOK_MS).unref()
  }

  async #close(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#looker)
    this.#hide()
    await Promise.allSettled(this.#changing.values())
    await this.#lines.close()
    await this.#server?.close()
    this.#reads?.close()
    await Promise.all([...this.#replicas.values()].map((replica) => replica.close()))
    this.#members?.close()
    this.#meter.close()
    await this.#remote.close()
  }

  /** The shards that this member is to hold. */
  #wanted(): readonly number[] {
    return Array.from({ length: this.shards }, (_, shard) => shard).filter((shard) =>
      this.#holders(shard).includes(this.rank),
    )
  }

  /** One replica has no one to leave its part to, so all nodes hold everything then. */
  #holders(shard: number): readonly number[] {
    const ranks = this.#group.members().map(({ rank }) => rank)
    // A group of a fixed size still lists those that have ended.
    const members = ranks.filter((rank) => this.#group.isMember(rank))
    return this.#options.replicas === 1 ? members : holdersOf(shard, members, this.#options.replicas)
  }

  /**
   * In a group of a fixed size all members know of each other from the start. In one that grows as many have to come,
   * however few there are by now: one that comes back alone, with nothing, is not to begin another log.
   */
  #founders(shard: number): readonly number[] {
    const { replicas } = this.#options
    const ranks = (length: number): readonly number[] => Array.from({ length }, (_, rank) => rank)
    return this.#group.grows ? ranks(replicas) : holdersOf(shard, ranks(this.#group.size), replicas)
  }

  get #untilClosed(): { readonly timeoutMs: number; readonly signal: AbortSignal } {
    return { timeoutMs: Number.POSITIVE_INFINITY, signal: this.#stop.signal }
  }

  /** Open what is to be held here, leave what others hold, and hand over what others are to lead. */
  #move(): void {
    if (this.#group.closed || this.#closing !== undefined) return
    this.#kept?.held(this.#members.cards.flatMap(({ holds }) => holds.map(({ shard }) => shard)))
    for (let shard = 0; shard < this.shards; shard += 1) {
      if (this.#changing.has(shard)) continue
      const holders = this.#holders(shard)
      const replica = this.#replicas.get(shard)
      if (replica !== undefined) replica.writers = holders.length
      if (replica?.isOver === true) {
        // It begins again from the others' state.
        this.#change(shard, this.#closeShard(shard))
        continue
      }
      if (holders.includes(this.rank) && replica === undefined)
        this.#change(shard, this.#openShard(shard, this.#untilClosed))
      else if (
        replica !== undefined &&
        mayLeave(this.rank, { holders, have: this.#have(shard), voters: replica.voters })
      )
        this.#change(shard, this.#leaveShard(shard))
    }
    this.#spreadLeaders()
  }

  #spreadLeaders(): void {
    if (this.#isHandingOver || this.shards === 1) return
    const wanted = [...this.#replicas].flatMap(([shard, replica]) => {
      if (replica.leader !== this.rank || this.#changing.has(shard)) return []
      const heir = this.#cardOf(leaderWanted(shard, this.#holders(shard)), shard)
      if (heir === undefined || heir.rank === this.rank) return []
      return this.#handOvers.mayTry(shard, heir.processId, performance.now()) ? [{ shard, replica, heir }] : []
    })
    if (wanted.length === 0) return
    const { shard, replica, heir } = wanted[this.#attempts % wanted.length]!
    this.#attempts += 1
    this.#isHandingOver = true
    replica
      .transferLeadership(heir.rank)
      .then((isDone) => {
        if (isDone) this.#handOvers.done(shard, heir.processId, performance.now())
      })
      // The next look tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#isHandingOver = false
      })
  }

  #have(shard: number): readonly number[] {
    const cards = this.#members.cards.filter(({ holds }) => holds.some((held) => held.shard === shard))
    return cards.map(({ rank }) => rank)
  }

  /** Of the node of that rank, if it holds the shard. */
  #cardOf(rank: number, shard: number): NodeCard | undefined {
    return this.#members.cards.find((card) => card.rank === rank && card.holds.some((held) => held.shard === shard))
  }

  #change(shard: number, change: Promise<void>): void {
    const done = change
      .then(() => this.#failures.delete(shard))
      // The next look tries again.
      .catch((error: unknown) => this.#failures.set(shard, error))
      .finally(() => this.#changing.delete(shard))
    this.#changing.set(
      shard,
      done.then(() => undefined),
    )
  }

  async #openShard(
    shard: number,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    const { name, replicas, directory, append, memoryBytes, inFlightMax, thread, spinMs } = this.#options
    this.#moving.set(shard, ShardState.Opening)
    const replica = await ShardReplica.open(this.#group, {
      name: this.shards === 1 ? `index/${name}` : `index/${name}/${shard}`,
      admission: new Admission({ name, callsMax: inFlightMax, shortens: false }),
      replicas,
      directory: directory && KeptShards.placeOf(directory, this.shards, shard),
      append,
      memoryBytes: Math.ceil(memoryBytes / this.shards),
      eviction: this.#evictionOfShard,
      founders: this.#founders(shard),
      isFounded: this.#kept?.isFounded(shard) === true,
      commonFormat: () => Math.min(...this.#members.cards.map(({ format = FIRST_FORMAT }) => format)),
      thread,
      spinMs,
      listeners: this.#listenersOf(shard),
      elsewhere: this.#remote.shard(shard),
      start: (options) => this.#host.startReplica(options, shard),
      ...limits,
    }).finally(() => this.#moving.delete(shard))
    // It may have been set meanwhile.
    replica.evict(this.#evictionOfShard)
    replica.writers = this.#holders(shard).length
    this.#replicas.set(shard, replica)
    this.#members.tell(this.#card())
  }

  #listenersOf(shard: number): KeyListeners {
    const node = this
    const changed: KeyListeners['onChange'] = (key, origin) => node.changeListener?.(shard, key, origin)
    return {
      get onEvent() {
        return node.keyListener
      },
      get onChange() {
        return node.changeListener === undefined ? undefined : changed
      },
    }
  }

  /** Leave a shard that others are to hold. */
  async #leaveShard(shard: number): Promise<void> {
    const replica = this.#replicas.get(shard)!
    // Else fewer would vote for a while, and the next death might be one too many. The next look tries again.
    if (!(await replica.giveUpVote())) return
    // Members may have come or gone meanwhile.
    if (this.#holders(shard).includes(this.rank)) replica.voteAgain()
    else await this.#closeShard(shard)
  }

  /** The others know first, so that no one asks for it here. One that is over has nothing to answer. */
  async #closeShard(shard: number): Promise<void> {
    const replica = this.#replicas.get(shard)!
    this.#replicas.delete(shard)
    this.#moving.set(shard, ShardState.Leaving)
    this.#members.tell(this.#card())
    await (replica.isOver ? replica.close() : replica.leave()).finally(() => this.#moving.delete(shard))
  }

  /** For those who look from outside. */
  #show(): void {
    const { shards } = this
    const { replicas } = this.#options
    this.#meter.show({ figures: this.ownFigures(), shards, replicas, moving: this.#moving })
  }

  #card(): NodeCard {
    const { here, beyond } = this.#server
    const holds = [...this.#replicas].map(([shard, { tableDescriptor }]) => ({ shard, table: tableDescriptor }))
    const place = { rank: this.rank, ...ownLife(), machine: this.#machine, here, beyond }
    return { ...place, holds, door: this.#door, format: COMMAND_FORMAT }
  }

  #places(): readonly Place[] {
    const others = this.#members.cards.filter(({ rank }) => rank !== this.rank)
    return others.flatMap((card) => placeOfNode(card, this.#machine) ?? [])
  }
}

/** By rank. This node may have asked itself, too. */
function withOwn<T extends { readonly rank: number }>(own: T, all: readonly T[]): readonly T[] {
  const others = all.filter(({ rank }) => rank !== own.rank)
  return [own, ...others].sort((one, other) => one.rank - other.rank)
}

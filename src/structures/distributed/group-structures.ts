import { type Codec, hashBytes, structured } from '../../codecs/index.ts'
import { ClosedError, checkBoolean, checkOptions, checkWhole } from '../../native/index.ts'
import { boundOf, ttlOf } from '../bounds.ts'
import { checkRate, type RateLimiterOptions } from '../cell-rate.ts'
import { checkStructureName } from '../heap/directory.ts'
import type { StructureKindName } from '../heap/structure-kind.ts'
import { checkLease, LEASE_MS, type LeaderOptions } from '../leader.ts'
import { listNames } from '../list/value-list.ts'
import { CHANNEL_CAPACITY, type ChannelOptions, channelNames } from '../log/shared-channel.ts'
import { LOG_CAPACITY, type LogOptions, logNames } from '../log/shared-log.ts'
import { type MvRluOptions, mvRluNames } from '../mvrlu/mv-rlu.ts'
import { fixed, type Parameter } from '../parameter.ts'
import { type CellOptions, cellNames } from '../rcu/rcu-cell.ts'
import { checkPermits, type SemaphoreOptions } from '../semaphore.ts'
import { codecParameter } from '../values/codec-parameter.ts'
import type { ValueSettings } from '../values/value-settings.ts'
import { COUNTER_BYTES, GroupCounter } from './counter.ts'
import { GroupFlag } from './flag.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import { zeros } from './heap/names.ts'
import { HomeStructures } from './home-structures.ts'
import type { GroupListOptions } from './list/group-list.ts'
import { openQueue } from './list/open-queue.ts'
import { GroupQueue } from './list/queue.ts'
import { SEGMENT_BYTES } from './list/queue-segment.ts'
import { GroupStack } from './list/stack.ts'
import { GroupStackCore, stackBytes } from './list/stack-core.ts'
import { GroupLeader } from './locks/leader.ts'
import { GroupMutex } from './locks/mutex.ts'
import { GroupOnce } from './locks/once.ts'
import { GroupSemaphore } from './locks/semaphore.ts'
import { GROUP_LOG_CAPACITY_MAX } from './log/body.ts'
import { GroupChannel } from './log/group-channel.ts'
import { GroupLog } from './log/group-log.ts'
import { openLogCore } from './log/open-log.ts'
import { DEPTH_MAX, TABLE_ENTRIES } from './map/body.ts'
import { GROUP_VALUE_BYTES_MAX, GroupMap, type GroupMapOptions, groupMapNames } from './map/group-map.ts'
import { openMapPart } from './map/open-part.ts'
import { HomeLostError } from './memory/errors.ts'
import type { GroupMemory } from './memory/group-memory.ts'
import { RECLAIMED_OFFSET } from './memory/layout.ts'
import { GroupMvRlu } from './mvrlu/group-mv-rlu.ts'
import { openMvRlu } from './mvrlu/open-objects.ts'
import { GroupRateLimiter, RATE_LIMITER_BYTES } from './rate-limiter.ts'
import { CELL_BYTES, GroupCell } from './rcu/group-cell.ts'
import { GroupRcu } from './rcu/group-rcu.ts'
import { GroupSequence, SEQUENCE_BYTES } from './sequence.ts'
import { Bells } from './waiting/bells.ts'
import { awaitedWordsBytes } from './waiting/waiting-ranks.ts'

/** A structure that was found: its home, the memory there, and where its body is. */
interface Opened {
  readonly home: HomeStructures
  readonly memory: HomeMemory
  readonly offset: number
}

/**
 * The structures of a group, as one rank holds them: those of {@link Structures} with the same names and meaning,
 * without the `Sync` forms. Each is kept at one rank, its *home*, which follows from its name.
 */
export class GroupStructures implements AsyncDisposable {
  /** Read-copy-update: reads of cells, and waiting for readers. */
  readonly rcu: GroupRcu
  readonly #group: GroupMemory
  readonly #homes: readonly HomeStructures[]
  readonly #leave: () => Promise<void>
  readonly #segmentBytes: number
  readonly #ended = new AbortController()
  #closing: Promise<void> | undefined

  /** @internal Made by {@link openStructures}. */
  constructor(
    group: GroupMemory,
    homes: readonly number[],
    leave: () => Promise<void>,
    segmentBytes: number = SEGMENT_BYTES,
  ) {
    this.#group = group
    this.#segmentBytes = segmentBytes
    const bells = new Bells()
    group.onRing((home, place) => {
      if (place === RECLAIMED_OFFSET) this.#giveBack(home)
      else bells.rung(home, place)
    })
    this.rcu = new GroupRcu(group, bells)
    this.#homes = homes.map((rank) => new HomeStructures(group, rank, bells, this.rcu.readers))
    this.#leave = leave
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** The rank that keeps, or would keep, the structure `name`. */
  homeOf(name: string): number {
    return this.#homeOf(name).rank
  }

  /** Names, kinds and homes of the existing structures, except those whose home is lost. */
  async list(): Promise<readonly { readonly name: string; readonly kind: StructureKindName; readonly home: number }[]> {
    this.#checkOpen()
    const living = this.#homes.filter(({ rank }) => this.#group.isMember(rank))
    const lists = await Promise.all(
      living.map(async ({ names, rank }) => {
        const named = await names.list().catch(noneOfLost)
        return named.map((one) => ({ ...one, home: rank }))
      }),
    )
    return lists.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The counter `name`, at 0 if it is new. @throws HomeLostError, as all methods that open a structure. */
  async counter(name: string): Promise<GroupCounter> {
    const { memory, offset } = await this.#open('counter', name, COUNTER_BYTES)
    return new GroupCounter(name, memory, offset)
  }

  async sequence(name: string): Promise<GroupSequence> {
    const { memory, offset } = await this.#open('sequence', name, SEQUENCE_BYTES)
    return new GroupSequence(name, memory, offset)
  }

  /** The flag `name`, down if it is new. */
  async flag(name: string): Promise<GroupFlag> {
    const { memory, offset } = await this.#open('flag', name, awaitedWordsBytes(1, this.#group.ranks))
    return new GroupFlag(name, memory, offset)
  }

  async once(name: string): Promise<GroupOnce> {
    const { memory, offset } = await this.#open('once', name, awaitedWordsBytes(1, this.#group.ranks))
    return new GroupOnce(name, memory, offset)
  }

  async mutex(name: string): Promise<GroupMutex> {
    const { memory, offset } = await this.#open('mutex', name, awaitedWordsBytes(1, this.#group.ranks))
    return new GroupMutex(name, memory, offset)
  }

  /** A semaphore of 1 to 4096 permits. */
  async semaphore(name: string, options: SemaphoreOptions): Promise<GroupSemaphore> {
    const permits = checkPermits(options)
    const { memory, offset } = await this.#open('semaphore', name, awaitedWordsBytes(permits, this.#group.ranks), [
      fixed('permits', permits),
    ])
    return new GroupSemaphore(name, memory, offset, permits)
  }

  async rateLimiter(name: string, options: RateLimiterOptions): Promise<GroupRateLimiter> {
    checkRate(options)
    const parameters = [fixed('limit', options.limit), fixed('intervalMs', options.intervalMs)]
    const { memory, offset } = await this.#open('rate limiter', name, RATE_LIMITER_BYTES, parameters)
    return new GroupRateLimiter(name, memory, offset, options)
  }

  /** The leader election `name`; the default lease is 5 s. */
  async leader(name: string, options?: LeaderOptions): Promise<GroupLeader> {
    const leaseMs = checkLease(options) ?? LEASE_MS
    const { memory, offset } = await this.#open('leader', name, awaitedWordsBytes(1, this.#group.ranks), [
      fixed('leaseMs', leaseMs),
    ])
    return new GroupLeader(name, memory, offset, leaseMs)
  }

  /**
   * The map `name`, empty if it is new. Options that are kept with the map are those it was made with; options passed
   * later must agree. `codec` defines the type of the values; with the default they are anything that `structuredClone`
   * takes.
   */
  async map<V = unknown>(name: string, options: GroupMapOptions<V> = {}): Promise<GroupMap<V>> {
    this.#checkOpen()
    checkOptions('map', options, groupMapNames)
    const { codec = structured as Codec<V>, capacity = TABLE_ENTRIES, spread = false } = options
    const { valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    const ttlMs = ttlOf(options.ttlMs) ?? 0
    const maxEntries = boundOf('options.maxEntries', options.maxEntries, MAX_ENTRIES_MAX) ?? 0
    checkBoolean('options.spread', spread)
    checkWhole('options.capacity', capacity, 1, CAPACITY_MAX * (spread ? this.#homes.length : 1))
    checkValueBytes(valueBytesMax)
    const homes = spread ? this.#homes : [this.#homeOf(name)]
    const each = {
      name,
      ttlMs,
      maxEntries,
      codec: codecParameter(codec),
      capacity: Math.ceil((maxEntries === 0 ? capacity : Math.min(capacity, maxEntries)) / homes.length),
      parts: homes.length,
    }
    const parts = await Promise.all(homes.map((home) => openMapPart(home, each)))
    return new GroupMap(name, parts, { codec, ttlMs, valueBytesMax })
  }

  /**
   * The log `name`: entries in order, the latest of which are kept. Options as of one machine; `capacity` at most 4 Mi,
   * values at most 60 KiB.
   */
  async log<V = unknown>(name: string, options: LogOptions<V> = {}): Promise<GroupLog<V>> {
    this.#checkOpen()
    checkOptions('log', options, logNames)
    const { codec = structured as Codec<V>, capacity = LOG_CAPACITY, valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    const bytes = boundOf('options.capacityBytes', options.capacityBytes, 2 ** 52) ?? 0
    checkWhole('options.capacity', capacity, 1, GROUP_LOG_CAPACITY_MAX)
    checkValueBytes(valueBytesMax)
    const parameters = [fixed('capacity', capacity), fixed('capacityBytes', bytes), codecParameter(codec)]
    const retention = { records: capacity, bytes, dropsForMemory: false }
    const core = await openLogCore(this.#homeOf(name), { kind: 'log', name, parameters, retention })
    return new GroupLog(name, core, { codec, valueBytesMax })
  }

  /** The channel `name`: messages to all subscribers. Bounds as of a log. */
  async channel<V = unknown>(name: string, options: ChannelOptions<V> = {}): Promise<GroupChannel<V>> {
    this.#checkOpen()
    checkOptions('channel', options, channelNames)
    const { codec = structured as Codec<V>, capacity = CHANNEL_CAPACITY } = options
    const { valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    checkWhole('options.capacity', capacity, 1, GROUP_LOG_CAPACITY_MAX)
    checkValueBytes(valueBytesMax)
    const retention = { records: capacity, bytes: 0, dropsForMemory: true }
    const parameters = [fixed('capacity', capacity), codecParameter(codec)]
    const core = await openLogCore(this.#homeOf(name), { kind: 'channel', name, parameters, retention })
    return new GroupChannel(name, core, { codec, valueBytesMax })
  }

  /** The queue `name`: first in, first out. */
  async queue<V = unknown>(name: string, options: GroupListOptions<V> = {}): Promise<GroupQueue<V>> {
    const { capacity, settings } = this.#checkList('queue', options)
    const request = { name, capacity, codec: codecParameter(settings.codec), segmentBytes: this.#segmentBytes }
    return new GroupQueue(name, await openQueue(this.#homeOf(name), request), settings)
  }

  /** The stack `name`: last in, first out. */
  async stack<V = unknown>(name: string, options: GroupListOptions<V> = {}): Promise<GroupStack<V>> {
    const { capacity, settings } = this.#checkList('stack', options)
    const opened = await this.#open('stack', name, stackBytes(this.#group.ranks), [
      fixed('capacity', capacity),
      codecParameter(settings.codec),
    ])
    const core = new GroupStackCore(opened.memory, opened.home.pool, opened.offset, capacity)
    return new GroupStack(name, core, settings)
  }

  /** The cell `name`, for {@link GroupStructures.rcu}. Values have at most 60 KiB. */
  async cell<V = unknown>(name: string, options: CellOptions<V> = {}): Promise<GroupCell<V>> {
    checkOptions('cell', options, cellNames)
    const { codec = structured as Codec<V>, valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    checkValueBytes(valueBytesMax)
    const { home, memory, offset } = await this.#open('rcu cell', name, CELL_BYTES, [codecParameter(codec)])
    return new GroupCell(name, { memory, pool: home.pool, place: offset }, { codec, valueBytesMax })
  }

  /** The objects `name`: the root object, and objects that are made and linked from it. Values have at most 60 KiB. */
  async mvRlu<V = unknown>(name: string, options: MvRluOptions<V> = {}): Promise<GroupMvRlu<V>> {
    this.#checkOpen()
    checkOptions('mvRlu', options, mvRluNames)
    const { codec = structured as Codec<V>, valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    checkValueBytes(valueBytesMax)
    const core = await openMvRlu(this.#homeOf(name), name, codecParameter(codec), this.rcu.readers)
    return new GroupMvRlu(name, core, { codec, valueBytesMax })
  }

  /** Leave, together with the other ranks: what this rank keeps stays available until then. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * @internal A rank is out of the group, and cannot reach this rank's memory any more: what it had here is this rank's
   *   now. The home itself does this when it notices. Otherwise a late write of a rank that was given up could hit
   *   memory that has a new owner.
   */
  async settle(rank: number): Promise<void> {
    const own = this.#homes.find((home) => home.rank === this.#group.rank)
    if (this.closed || own === undefined) return
    await own.pool.adopt(rank)
    const all = (await own.names.list()).filter(({ kind }) => kind === 'mv-rlu')
    // None waits for what readers of another do.
    await Promise.all(
      all.map(async ({ name }) => {
        const objects = await openMvRlu(own, name, undefined, this.rcu.readers)
        await objects.settle(this.#ended.signal)
      }),
    )
  }

  /** Another rank is short of memory at a home. If the home is lost, no rank waits for the answer. */
  #giveBack(rank: number): void {
    const home = this.closed ? undefined : this.#homes.find((one) => one.rank === rank)
    home?.pool.giveBackForOthers().catch(() => {})
  }

  #checkList<V>(
    kind: string,
    options: GroupListOptions<V>,
  ): { readonly capacity: number; readonly settings: ValueSettings<V> } {
    this.#checkOpen()
    checkOptions(kind, options, listNames)
    const { codec = structured as Codec<V>, valueBytesMax = GROUP_VALUE_BYTES_MAX } = options
    const capacity = boundOf('options.capacity', options.capacity, LIST_CAPACITY_MAX) ?? 0
    checkValueBytes(valueBytesMax)
    return { capacity, settings: { codec, valueBytesMax } }
  }

  async #open(
    kind: StructureKindName,
    name: string,
    bodyBytes: number,
    parameters: readonly Parameter[] = [],
  ): Promise<Opened> {
    this.#checkOpen()
    const home = this.#homeOf(name)
    const { offset } = await home.names.open({ kind, name, parameters, makeBody: zeros(bodyBytes) })
    return { home, memory: home.on(`${kind} '${name}'`), offset }
  }

  async #close(): Promise<void> {
    this.#ended.abort()
    // Others may wait for its readers before they leave.
    this.rcu.close()
    await Promise.all(this.#homes.map((home) => home.letGo()))
    await this.#leave()
  }

  #homeOf(name: string): HomeStructures {
    const bytes = checkStructureName(name)
    // Another seed than for the place among the names of a home. Otherwise the names of one home would all have the
    // same few places.
    return this.#homes[hashBytes(bytes, bytes.length, HOME_SEED) % this.#homes.length]!
  }

  #checkOpen(): void {
    if (this.closed) throw new ClosedError('the structures of the group')
  }
}

/** Lost since it was asked. */
function noneOfLost(error: unknown): readonly [] {
  if (error instanceof HomeLostError) return []
  throw error
}

function checkValueBytes(valueBytesMax: number): void {
  checkWhole('options.valueBytesMax', valueBytesMax, 1, GROUP_VALUE_BYTES_MAX)
}

/** The largest initial capacity of a map at each home. */
const CAPACITY_MAX: number = 2 ** DEPTH_MAX * TABLE_ENTRIES

/** As of one machine. */
const MAX_ENTRIES_MAX = 2 ** 26

const LIST_CAPACITY_MAX = 2 ** 26
const HOME_SEED = 0x686f6d65

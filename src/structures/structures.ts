import type { Membership, MembershipPart } from '../cluster/index.ts'
import { bytes, type Codec, structured } from '../codecs/index.ts'
import { type BackedOptions, type HardwareRegion, parseSize, type Size, type Space } from '../dsm/index.ts'
import {
  ArgumentError,
  checkBoolean,
  checkOptions,
  checkSignal,
  checkWhole,
  type OptionNames,
} from '../native/index.ts'
import { boundOf, ttlOf } from './bounds.ts'
import { checkRate, type RateLimiterOptions } from './cell-rate.ts'
import type { LostBlock } from './checking/check-heap.ts'
import { COUNTER_BYTES, Counter } from './counter.ts'
import { CYCLIC_BARRIER_BYTES, CyclicBarrier, type CyclicBarrierOptions, checkParties } from './cyclic-barrier.ts'
import { StructureError } from './errors.ts'
import { Meters } from './figures/meter.ts'
import { FLAG_BYTES, Flag } from './flag.ts'
import { Directory, type FoundStructure } from './heap/directory.ts'
import { Heap, type HeapUsage } from './heap/heap.ts'
import { HEAP_BYTES_MAX, HEAP_BYTES_MIN, heapBytesOf, layoutOf } from './heap/layout.ts'
import type { StructureKindName } from './heap/structure-kind.ts'
import { type JobCore, openJobCore } from './jobs/job-core.ts'
import { checkJobLease, checkRules, JOB_LEASE_MS, type JobsOptions, jobsNames } from './jobs/job-options.ts'
import { JOBS_BODY_BYTES, JobsOffset } from './jobs/layout.ts'
import { Schedules } from './jobs/schedules.ts'
import { type JobsSettings, SharedJobs } from './jobs/shared-jobs.ts'
import { checkLatch, LATCH_BYTES, Latch, type LatchOptions } from './latch.ts'
import { checkLease, LEADER_BYTES, LEASE_MS, Leader, type LeaderOptions } from './leader.ts'
import { SharedQueue } from './list/queue.ts'
import { QueueCore } from './list/queue-core.ts'
import { SharedStack } from './list/stack.ts'
import { StackCore } from './list/stack-core.ts'
import {
  LIST_BODY_BYTES,
  LIST_WORDS_OFFSET,
  type ListBounds,
  type ListOptions,
  type ListSettings,
  listNames,
} from './list/value-list.ts'
import { CHANNEL_CAPACITY, type ChannelOptions, channelNames, SharedChannel } from './log/shared-channel.ts'
import { LOG_BODY_BYTES, LOG_CAPACITY, type LogOptions, logNames, SharedLog } from './log/shared-log.ts'
import { MAP_BODY_BYTES } from './map/layout.ts'
import { type MapOptions, mapNames, SharedMap, VALUE_BYTES_MAX } from './map/shared-map.ts'
import { MemberPeers } from './member-peers.ts'
import { LocalMemory } from './memory/local-memory.ts'
import { MUTEX_BYTES, Mutex } from './mutex.ts'
import { CommitLog } from './mvrlu/commit-log.ts'
import { MvRlu, type MvRluOptions, mvRluNames, ROOT_BODY_BYTES } from './mvrlu/mv-rlu.ts'
import { ONCE_BYTES, Once } from './once.ts'
import { bound, fixed, type Parameter } from './parameter.ts'
import type { Peers } from './peers.ts'
import { RATE_LIMITER_BYTES, RateLimiter } from './rate-limiter.ts'
import { CELL_BODY_BYTES } from './rcu/cell-core.ts'
import { Rcu } from './rcu/rcu.ts'
import { type CellOptions, cellNames, RcuCell } from './rcu/rcu-cell.ts'
import { addReaches } from './reaches.ts'
import { READ_WRITE_LOCK_BYTES, ReadWriteLock } from './read-write-lock.ts'
import { SavedStructures } from './saving/saved-structures.ts'
import { checkPermits, Semaphore, type SemaphoreOptions, semaphoreBytes } from './semaphore.ts'
import { SEQUENCE_BYTES, Sequence } from './sequence.ts'
import { codecParameter, knownCodec } from './values/codec-parameter.ts'

/** Options of {@link openStructures}. */
export interface StructuresOptions {
  /** The region that holds them. Default `'structures'`. */
  readonly region?: string
  /** Memory for all of them together, fixed by the first process that opens them: 1 MiB to 4 GiB. Default 64 MiB. */
  readonly size?: Size
  /**
   * `true`: all of the memory is taken at once, and stays. `false`: it is taken as it is needed, and given back when it
   * is free; `size` is the bound. When the machine or the disk has no more, a call that needs some fails with
   * HeapFullError. Default: `true` for new structures; those that are there stay as they are.
   */
  readonly reserve?: boolean
  /** Overwrite memory that this process frees with 0xdb, to find code that reads it too late. Default false. */
  readonly poison?: boolean
  readonly signal?: AbortSignal
}

const names: OptionNames<StructuresOptions> = { region: true, size: true, reserve: true, poison: true, signal: true }

const DEFAULT_SIZE = '64MiB'
/** The largest bound on a number of entries. */
const ENTRIES_MAX = 2 ** 26

/**
 * Open the structures of a space; the first process to open them makes them. They live as long as the space does.
 *
 * ```ts
 * await using space = await open('shop')
 * await using shared = await openStructures(space)
 * const hits = await shared.counter('hits')
 * hits.addSync()
 * ```
 *
 * @throws RegionError if the region exists with another size; StructureError for another version; MemoryExhaustedError;
 *   ArgumentError.
 */
export async function openStructures(space: Space, options: StructuresOptions = {}): Promise<Structures> {
  checkOptions('openStructures', options, names)
  const { region: name = 'structures', size = DEFAULT_SIZE, reserve, poison = false, signal } = options
  const lengthBytes = checkSize(size)
  if (reserve !== undefined) checkBoolean('options.reserve', reserve)
  checkBoolean('options.poison', poison)
  checkSignal('options.signal', signal)
  const known = space.regions().find((region) => region.name === name)
  if (known !== undefined && !fitsHeap(known.size)) {
    const why = `region '${name}' has ${known.size} bytes, and structures take ${HEAP_SIZES}`
    const advice = 'it holds other data; name another region in options.region'
    throw new StructureError('ERR_AETHER_STRUCTURES_VERSION', name, `${why}: ${advice}`)
  }
  const opened = {
    headBytes: (reserve ?? known === undefined) ? undefined : headBytesOf(known?.size ?? lengthBytes),
    ...(known !== undefined && options.size === undefined ? {} : { size: lengthBytes }),
    ...(signal === undefined ? {} : { signal }),
  }
  return await openIn(space, name, opened, poison)
}

/**
 * The structures of a region of `sizeBytes`, as they are: nothing is made or reserved. For saves of the space.
 * @throws RegionError if the region is not there.
 */
export function openThose(space: Space, region: string, sizeBytes: number): Promise<Structures> {
  return openIn(space, region, { headBytes: headBytesOf(sizeBytes) }, false)
}

async function openIn(space: Space, name: string, options: BackedOptions, poison: boolean): Promise<Structures> {
  const region = await space.openBacked(name, options)
  try {
    return new Structures(region, space.membership, poison)
  } catch (error) {
    await region.close()
    throw error
  }
}

/**
 * The structures of one region, as one member holds them. Each thread has to open its own, through a space of its own.
 */
export class Structures implements AsyncDisposable {
  /** Read-copy-update: reads of cells, and waiting for readers. */
  readonly rcu: Rcu
  readonly #region: HardwareRegion
  readonly #heap: Heap
  readonly #directory: Directory
  readonly #commits: CommitLog
  /** One for each job queue, however often it is opened: a member has one lease in it. */
  readonly #jobCores = new Map<number, JobCore>()
  readonly #stop: () => void

  /** @internal Made by {@link openStructures}. */
  constructor(region: HardwareRegion, membership: Membership, poison: boolean) {
    this.#region = region
    this.#heap = holdHeap(region, membership)
    if (poison) this.#heap.poisonFreed()
    this.rcu = new Rcu(this.#heap)
    this.#directory = new Directory(this.#heap)
    this.#commits = new CommitLog(this.#heap)
    addReaches(this.#heap)
    this.#heap.join()
    this.#stop = membership.onChange(() => this.#settle())
    membership.addPart(new HeapPart(this.#heap))
  }

  get closed(): boolean {
    return this.#heap.closed
  }

  /** The members of the space. @internal */
  get peers(): Peers {
    return this.#heap.peers
  }

  /** Names and kinds of the structures that are there. */
  list(): readonly { readonly name: string; readonly kind: StructureKindName }[] {
    this.#heap.checkOpen()
    return this.#directory.list()
  }

  /**
   * Settle what dead members left, free what no member looks at any more, and give free memory back. It runs by itself
   * when an operation meets such memory, or memory is short; for tests and tools.
   */
  recover(): void {
    this.#heap.checkOpen()
    this.#heap.recover(true)
    this.#heap.collect()
    this.#heap.giveBack()
  }

  /** Free blocks that a check found to be named by nothing, if they are still the same. @internal */
  reclaim(lost: readonly LostBlock[]): void {
    this.#heap.checkOpen()
    for (const { reference, state } of lost) this.#heap.epochs.retire(reference, state)
    this.#heap.collect()
    this.#heap.giveBack()
  }

  /** For saves of the space. @internal */
  get saved(): SavedStructures {
    return new SavedStructures(this.#heap, this.#directory, this.#region.backing)
  }

  /** The memory in use. Looks at every block, so it is for people and tools. */
  usage(): HeapUsage {
    this.#heap.checkOpen()
    return this.#heap.usage()
  }

  /** The counter `name`, at 0 if it is new. */
  async counter(name: string): Promise<Counter> {
    const { offset } = this.#open('counter', name, COUNTER_BYTES)
    return new Counter(name, this.#heap, offset)
  }

  async sequence(name: string): Promise<Sequence> {
    const { offset } = this.#open('sequence', name, SEQUENCE_BYTES)
    return new Sequence(name, this.#heap, offset)
  }

  /** The flag `name`, down if it is new. */
  async flag(name: string): Promise<Flag> {
    const { offset } = this.#open('flag', name, FLAG_BYTES)
    return new Flag(name, this.#heap, offset)
  }

  async once(name: string): Promise<Once> {
    const { offset } = this.#open('once', name, ONCE_BYTES)
    return new Once(name, this.#heap, offset)
  }

  async mutex(name: string): Promise<Mutex> {
    const { offset } = this.#open('mutex', name, MUTEX_BYTES)
    return new Mutex(name, this.#heap, offset)
  }

  /** The lock `name`, which any number of readers or one writer holds. */
  async readWriteLock(name: string): Promise<ReadWriteLock> {
    const { offset } = this.#open('read-write lock', name, READ_WRITE_LOCK_BYTES)
    return new ReadWriteLock(name, this.#heap, offset)
  }

  /** The latch `name`, which opens after `count` countdowns. All openers must agree on the count. */
  async latch(name: string, options: LatchOptions): Promise<Latch> {
    const count = checkLatch(options)
    const { offset } = this.#open('latch', name, LATCH_BYTES, [fixed('count', count)])
    return new Latch(name, this.#heap, offset, count)
  }

  /** The barrier `name` of 1 to 4096 parties. All openers must agree on their number. */
  async barrier(name: string, options: CyclicBarrierOptions): Promise<CyclicBarrier> {
    const parties = checkParties(options)
    const { offset } = this.#open('barrier', name, CYCLIC_BARRIER_BYTES, [fixed('parties', parties)])
    return new CyclicBarrier(name, this.#heap, offset, parties)
  }

  /** A semaphore of 1 to 4096 permits. All openers must agree on their number. */
  async semaphore(name: string, options: SemaphoreOptions): Promise<Semaphore> {
    const permits = checkPermits(options)
    const { offset } = this.#open('semaphore', name, semaphoreBytes(permits), [fixed('permits', permits)])
    return new Semaphore(name, this.#heap, offset, permits)
  }

  /** The rate limiter `name`. The options of the latest opener hold for all processes. */
  async rateLimiter(name: string, options: RateLimiterOptions): Promise<RateLimiter> {
    checkRate(options)
    const bounds = [bound('limit', options.limit), bound('intervalMs', options.intervalMs)]
    const { offset, parameter } = this.#open('rate limiter', name, RATE_LIMITER_BYTES, bounds)
    return new RateLimiter(name, this.#heap, offset, {
      get limit() {
        return parameter(0)
      },
      get intervalMs() {
        return parameter(1)
      },
    })
  }

  /** The leader election `name`. All openers that pass `leaseMs` must agree on it; 5 s if the election is new. */
  async leader(name: string, options?: LeaderOptions): Promise<Leader> {
    const leaseMs = checkLease(options)
    const parameters = [{ name: 'leaseMs', wanted: leaseMs, initial: LEASE_MS, changes: false }]
    const { offset, parameter } = this.#open('leader', name, LEADER_BYTES, parameters)
    return new Leader(name, this.#heap, offset, parameter(0))
  }

  /**
   * The map `name`, empty if it is new. `ttlMs` and `maxEntries` are those of the latest opener that passed them, for
   * all processes; an opener that leaves them out keeps what is there. `codec` defines the type of the values, and all
   * openers must agree; with the default they are anything that `structuredClone` takes.
   */
  async map<V = unknown>(name: string, options: MapOptions<V> = {}): Promise<SharedMap<V>> {
    checkOptions('map', options, mapNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    const ttlMs = ttlOf(options.ttlMs)
    const maxEntries = boundOf('options.maxEntries', options.maxEntries, ENTRIES_MAX)
    checkValueBytes(valueBytesMax)
    const parameters = [bound('ttlMs', ttlMs), bound('maxEntries', maxEntries), codecParameter(codec)]
    const { offset, parameter } = this.#open('map', name, MAP_BODY_BYTES, parameters)
    return new SharedMap(name, this.#heap, offset, {
      codec,
      valueBytesMax,
      get ttlMs() {
        return parameter(0)
      },
      get maxEntries() {
        return parameter(1)
      },
    })
  }

  /** The queue `name`: first in, first out. */
  async queue<V = unknown>(name: string, options: ListOptions<V> = {}): Promise<SharedQueue<V>> {
    const { offset, bounds, settings } = this.#openList('queue', name, options)
    const core = new QueueCore(this.#heap, offset + LIST_WORDS_OFFSET, bounds)
    return new SharedQueue(name, this.#heap, offset, core, settings)
  }

  /** The stack `name`: last in, first out. */
  async stack<V = unknown>(name: string, options: ListOptions<V> = {}): Promise<SharedStack<V>> {
    const { offset, bounds, settings } = this.#openList('stack', name, options)
    const core = new StackCore(this.#heap, offset + LIST_WORDS_OFFSET, bounds)
    return new SharedStack(name, this.#heap, offset, core, settings)
  }

  /** The job queue `name`: each job is worked on at least once. */
  async jobs<V = unknown, R = unknown>(name: string, options: JobsOptions<V> = {}): Promise<SharedJobs<V, R>> {
    checkOptions('jobs', options, jobsNames)
    const {
      codec = structured as Codec<V>,
      valueBytesMax = VALUE_BYTES_MAX,
      leaseMs = JOB_LEASE_MS,
      ...rules
    } = options
    checkValueBytes(valueBytesMax)
    checkJobLease(leaseMs)
    checkRules(rules)
    const { offset } = this.#open('jobs', name, JOBS_BODY_BYTES, [codecParameter(codec)])
    return this.#jobsAt<V, R>(offset, name, { codec, valueBytesMax, rules }, leaseMs)
  }

  /** A job queue that is there, with data as its codec has them, or as bytes if that is not known here. @internal */
  jobsAsTheyAre(name: string): SharedJobs<unknown> {
    const codec = { name: 'codec', wanted: undefined, initial: 0, changes: false }
    const { offset, parameter } = this.#open('jobs', name, JOBS_BODY_BYTES, [codec])
    const settings = { codec: knownCodec(parameter(0)) ?? (bytes as Codec<unknown>), valueBytesMax: VALUE_BYTES_MAX }
    return this.#jobsAt(offset, name, { ...settings, rules: {} }, JOB_LEASE_MS)
  }

  /** The log `name`: entries in order, the latest of which are kept. */
  async log<V = unknown>(name: string, options: LogOptions<V> = {}): Promise<SharedLog<V>> {
    checkOptions('log', options, logNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    const capacity = boundOf('options.capacity', options.capacity, ENTRIES_MAX)
    const bytes = boundOf('options.capacityBytes', options.capacityBytes, 2 ** 52)
    checkValueBytes(valueBytesMax)
    const bounds = [bound('capacity', capacity, LOG_CAPACITY), bound('capacityBytes', bytes), codecParameter(codec)]
    const { offset, parameter } = this.#open('log', name, LOG_BODY_BYTES, bounds)
    const meter = this.#heap.meters.of('log', name)
    const retention = {
      dropsForMemory: false,
      get records() {
        return parameter(0)
      },
      get bytes() {
        return parameter(1)
      },
    }
    return new SharedLog(name, this.#heap, offset, { codec, retention, valueBytesMax, meter })
  }

  /** The channel `name`: messages to all subscribers. */
  async channel<V = unknown>(name: string, options: ChannelOptions<V> = {}): Promise<SharedChannel<V>> {
    checkOptions('channel', options, channelNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    const capacity = boundOf('options.capacity', options.capacity, ENTRIES_MAX)
    checkValueBytes(valueBytesMax)
    const bounds = [bound('capacity', capacity, CHANNEL_CAPACITY), codecParameter(codec)]
    const { offset, parameter } = this.#open('channel', name, LOG_BODY_BYTES, bounds)
    const meter = this.#heap.meters.of('channel', name)
    const retention = {
      dropsForMemory: true,
      bytes: 0,
      get records() {
        return parameter(0)
      },
    }
    return new SharedChannel(name, this.#heap, offset, { codec, retention, valueBytesMax, meter })
  }

  /** The cell `name`, for {@link Structures.rcu}. */
  async cell<V = unknown>(name: string, options: CellOptions<V> = {}): Promise<RcuCell<V>> {
    checkOptions('cell', options, cellNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    checkValueBytes(valueBytesMax)
    const { offset } = this.#open('rcu cell', name, CELL_BODY_BYTES, [codecParameter(codec)])
    return new RcuCell(name, this.#heap, offset, { codec, valueBytesMax })
  }

  /** The objects `name`: the root object, and objects that are made and linked from it. */
  async mvRlu<V = unknown>(name: string, options: MvRluOptions<V> = {}): Promise<MvRlu<V>> {
    checkOptions('mvRlu', options, mvRluNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    checkValueBytes(valueBytesMax)
    const { offset } = this.#open('mv-rlu', name, ROOT_BODY_BYTES, [codecParameter(codec)])
    return new MvRlu(name, this.#heap, offset, this.#commits, { codec, valueBytesMax })
  }

  /** Leave. All that this member holds is released. Idempotent. */
  async close(): Promise<void> {
    if (this.closed) return
    this.#stop()
    this.#heap.close()
    await this.#region.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #jobsAt<V, R>(
    offset: number,
    name: string,
    settings: Omit<JobsSettings<V>, 'meter'>,
    leaseMs: number,
  ): SharedJobs<V, R> {
    const meter = this.#heap.meters.of('jobs', name)
    const core = this.#jobCores.get(offset) ?? openJobCore(name, this.#heap, offset, { meter, leaseMs })
    this.#jobCores.set(offset, core)
    const schedules = new Schedules(name, core, offset + JobsOffset.Schedules, meter)
    return new SharedJobs(name, core, schedules, { ...settings, meter })
  }

  #openList<V>(
    kind: 'queue' | 'stack',
    name: string,
    options: ListOptions<V>,
  ): { readonly offset: number; readonly bounds: ListBounds; readonly settings: ListSettings<V> } {
    checkOptions(kind, options, listNames)
    const { codec = structured as Codec<V>, valueBytesMax = VALUE_BYTES_MAX } = options
    const capacity = boundOf('options.capacity', options.capacity, ENTRIES_MAX)
    checkValueBytes(valueBytesMax)
    const parameters = [bound('capacity', capacity), codecParameter(codec)]
    const { offset, parameter } = this.#open(kind, name, LIST_BODY_BYTES, parameters)
    const bounds = {
      get capacity() {
        return parameter(0)
      },
    }
    return { offset, bounds, settings: { codec, valueBytesMax, meter: this.#heap.meters.of(kind, name) } }
  }

  #open(
    kind: StructureKindName,
    name: string,
    bodyBytes: number,
    parameters: readonly Parameter[] = [],
  ): FoundStructure {
    this.#heap.checkOpen()
    return this.#directory.open({ kind, name, bodyBytes, parameters })
  }

  #settle(): void {
    if (!this.closed) this.#heap.recover()
  }
}

/** Members and the names of regions whose heap they hold. A second hold would be the same participant twice. */
const held = new WeakMap<Membership, Set<string>>()

function holdHeap(region: HardwareRegion, membership: Membership): Heap {
  const names = held.get(membership) ?? new Set<string>()
  held.set(membership, names)
  if (names.has(region.name)) {
    const advice = 'use those, or open the space again for a second member'
    throw new ArgumentError(
      'options.region',
      `options.region: this member has already opened the structures of '${region.name}'; ${advice}`,
    )
  }
  const heap = new Heap(
    region.name,
    new LocalMemory(region.uint8.subarray(0, heapBytesOf(region.size))),
    new MemberPeers(membership),
    new Meters(membership.profiling, region.name),
    region.backing,
  )
  names.add(region.name)
  heap.onClose(() => names.delete(region.name))
  return heap
}

/** If the space is closed first. */
class HeapPart implements MembershipPart {
  readonly #heap: Heap

  constructor(heap: Heap) {
    this.#heap = heap
  }

  close(): void {
    this.#heap.abandon()
  }

  settle(): void {
    // Dead members are recovered when they are met: see heap/heap-recovery.ts.
  }

  namesOf(): readonly string[] {
    return []
  }
}

/** What structures in a region of that size need from the start. */
function headBytesOf(size: number): number {
  return layoutOf(heapBytesOf(size)).statesOffset
}

const HEAP_SIZES = '1 MiB to 4 GiB'

function fitsHeap(bytes: number): boolean {
  return bytes >= HEAP_BYTES_MIN && bytes <= HEAP_BYTES_MAX
}

function checkSize(size: Size): number {
  const bytes = parseSize(size, 'options.size')
  if (fitsHeap(bytes)) return bytes
  throw new ArgumentError('options.size', `options.size must be from ${HEAP_SIZES}, not ${bytes} bytes`)
}

function checkValueBytes(valueBytesMax: number): void {
  checkWhole('options.valueBytesMax', valueBytesMax, 1, HEAP_BYTES_MAX)
}

import { type AppendPolicy, checkAppend } from '../consensus/index.ts'
import { RegionGroup } from '../dsm/index.ts'
import {
  ArgumentError,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../native/index.ts'
import { Index } from './handles/index-handle.ts'
import { SHARDS_MAX } from './keys/shard-of.ts'
import { DEFAULT_EVICTION, EVICTION_POLICIES, type EvictionPolicy } from './node/eviction-policy.ts'
import type { Place } from './node/index-contract.ts'
import { IndexNode } from './node/index-node.ts'
import { listenPlaceOf } from './node/listen-place.ts'
import { ownAddress } from './node/own-address.ts'
import { DEFAULT_SLOWER_THAN_US } from './node/slow-log.ts'
import type { OnKeyEvent } from './state/key-events.ts'

/** Options of {@link openIndex}. All members of a group pass the same, but for `directory` and `listen`. */
export interface OpenIndexOptions {
  /** Tells this index from others: clients come by it. At most 64 characters. */
  readonly name: string
  /**
   * How many members vote, an odd number. A minority of them may end without loss. Default 3, or as many as the group
   * has. In a group that grows, the index begins when as many have opened it.
   */
  readonly replicas?: number
  /**
   * Where this process keeps the log, a directory of its own. What was answered is then on the disks of a majority.
   * Default: none, and it is in their memories.
   */
  readonly directory?: string
  /**
   * When the disk has a write: `always` before it is answered, `everysec` within a second or so, `no` when the
   * kernel brings it there. The latter two are for one replica. Default `always`.
   */
  readonly append?: AppendPolicy
  /**
   * How many parts the keys are divided into. Each is held by `replicas` members, and moves when members come or go.
   * Pass more than there will be members; each takes a thread where it is held, unless `thread` says otherwise. It
   * cannot be changed later. Default 1.
   */
  readonly shards?: number
  /** Bytes that keys and values may take, in each process. What happens above that, `policy` says. Default 1 GiB. */
  readonly memoryBytes?: number
  /** Which keys go when the memory is full. Default `noeviction`: none, and writes are refused. */
  readonly policy?: EvictionPolicy
  /**
   * Where clients of other machines come, and the nodes of the group there: `host:port`. Default: none can, or, in a
   * group of several machines, the address of its device with a free port.
   */
  readonly listen?: string
  /** Calls of a shard that this process has under way at a time: more are refused at once. Default 1024. */
  readonly inFlightMax?: number
  /**
   * Where this process decides on writes: see `replicate`. With `program` a write of one machine needs no switch of
   * threads; for processes that do nothing else, as `aether serve`. Default `own`.
   */
  readonly thread?: 'own' | 'program'
  /**
   * How long that looks for work before it sleeps, in milliseconds: see `replicate`. A write is then answered sooner,
   * at the cost of a processor. Default 0.
   */
  readonly spinMs?: number
  /** Calls that take at least as long are noted for {@link Index.slowLog}; Infinity: none are. Default 10. */
  readonly slowMs?: number
  /** How long to wait for a leader, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const names: OptionNames<OpenIndexOptions> = {
  name: true,
  replicas: true,
  shards: true,
  directory: true,
  append: true,
  memoryBytes: true,
  policy: true,
  listen: true,
  inFlightMax: true,
  thread: true,
  spinMs: true,
  slowMs: true,
  timeoutMs: true,
  signal: true,
}

const NAME_MAX = 64
const DEFAULT_REPLICAS = 3
const REPLICAS_MAX = 7
const DEFAULT_MEMORY_BYTES = 2 ** 30
const MEMORY_BYTES_MIN = 2 ** 20
const MEMORY_BYTES_MAX = 14 * 2 ** 30
export const DEFAULT_IN_FLIGHT = 1024
const DEFAULT_TIMEOUT_MS = 30_000

/**
 * Be a node of an index: data by key, which all members of the group keep alike, and which outlives any minority of
 * them. Every member of the group may open it, now or later; clients come by `connectIndex`.
 *
 * ```ts
 * await using group = await join({ name: 'shop' })
 * await using index = await openIndex(group, { name: 'users', replicas: 1 })
 * await index.set('user:1', 'ada')
 * ```
 *
 * @throws ConsensusError `ERR_AETHER_CONSENSUS_TIMEOUT` if no leader is elected in time, and
 *   `ERR_AETHER_CONSENSUS_LOG_…` for what is wrong with the directory; ArgumentError.
 */
export async function openIndex(group: RegionGroup, options: OpenIndexOptions): Promise<Index> {
  const node = await openNode(group, options)
  return new Index(node.name, node)
}

/** @internal The node alone, for those who show how it does, or are told what happens to keys. */
export async function openNode(
  group: RegionGroup,
  options: OpenIndexOptions,
  onEvent?: OnKeyEvent,
): Promise<IndexNode> {
  if (!(group instanceof RegionGroup)) throw mustBe('group', 'a group, as join() resolves with', group)
  checkOptions('openIndex', options, names)
  if (options === undefined) throw mustBe('options', "an object such as { name: 'users' }", options)
  const {
    name,
    replicas = DEFAULT_REPLICAS,
    shards = 1,
    directory,
    append = 'always',
    memoryBytes = DEFAULT_MEMORY_BYTES,
    policy = DEFAULT_EVICTION.policy,
    listen,
  } = options
  const { inFlightMax = DEFAULT_IN_FLIGHT, thread = 'own', timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options
  checkIndexName(name)
  checkWhole('options.replicas', replicas, 1, REPLICAS_MAX)
  checkWhole('options.shards', shards, 1, SHARDS_MAX)
  if (replicas % 2 === 0)
    throw mustBe('options.replicas', 'an odd number, so that a majority outlives the most', replicas)
  if (directory !== undefined) checkText('options.directory', directory)
  checkAppend(append, replicas, directory)
  checkWhole('options.memoryBytes', memoryBytes, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX)
  if (!EVICTION_POLICIES.includes(policy))
    throw mustBe('options.policy', `one of ${EVICTION_POLICIES.join(', ')}`, policy)
  checkWhole('options.inFlightMax', inFlightMax, 1, Number.MAX_SAFE_INTEGER)
  if (thread !== 'own' && thread !== 'program') throw mustBe('options.thread', "'own' or 'program'", thread)
  const { slowMs = DEFAULT_SLOWER_THAN_US / 1000, spinMs = 0 } = options
  if (spinMs !== 0) checkMilliseconds('options.spinMs', spinMs)
  if (typeof slowMs !== 'number' || !(slowMs >= 0))
    throw mustBe('options.slowMs', 'a number of milliseconds from 0 on', slowMs)
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkSignal('options.signal', signal)
  const given = listen === undefined ? undefined : placeOf('options.listen', listen)
  const place =
    given === undefined ? ownPlace(group) : await listenPlaceOf(given, group.oneMachine ? 'tcp0' : group.device)
  const rest = {
    name,
    shards,
    replicas,
    directory,
    append,
    memoryBytes,
    eviction: { ...DEFAULT_EVICTION, policy },
    listen: place,
    inFlightMax,
    thread,
    spinMs,
    slowerThanUs: slowMs === Number.POSITIVE_INFINITY ? -1 : Math.ceil(slowMs * 1000),
    timeoutMs,
    signal,
    onEvent,
  }
  return await IndexNode.open(group, rest)
}

function ownPlace(group: RegionGroup): Place | undefined {
  const address = group.oneMachine ? undefined : ownAddress(group.device)
  return address === undefined ? undefined : { address, port: 0 }
}

/** @throws ArgumentError */
export function checkIndexName(name: string): void {
  checkText('options.name', name)
  if (name.length > NAME_MAX)
    throw new ArgumentError(
      'options.name',
      `the name of an index has at most ${NAME_MAX} characters, not ${name.length}`,
    )
}

/** @throws ArgumentError for what is not `host:port`. */
export function placeOf(argument: string, text: string): Place {
  const colon = typeof text === 'string' ? text.lastIndexOf(':') : -1
  const port = colon < 0 ? Number.NaN : Number(text.slice(colon + 1))
  if (colon < 1 || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw mustBe(argument, "an address and a port, such as '10.0.0.1:7500'", text)
  return { address: text.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port }
}

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import {
  type AppendPolicy,
  type ReadersOf,
  type Replicated,
  type ReplicatedStatus,
  replicateIn,
  type StartReplica,
} from '../../consensus/index.ts'
import { TIMER_MS_MAX } from '../../native/index.ts'
import { addAbortCallback, removeAbortCallback } from '../../runtime/index.ts'
import type { Admission } from '../admission.ts'
import type { Reply } from '../commands/reply.ts'
import { COMMAND_FORMAT } from '../commands/table.ts'
import { againUntilKnown, locate, type PlacedOrNot, placeOnMachine } from '../located.ts'
import { isThere, type Looked, lookedAt } from '../looked.ts'
import { copyOf } from '../memory/copy.ts'
import { RecordLooks } from '../memory/record-looks.ts'
import { RecordTable } from '../memory/record-table.ts'
import { TableReader } from '../memory/table-reader.ts'
import type { CallLimits, ShardPort } from '../port.ts'
import { answerCodec } from '../state/answer-codec.ts'
import { bytesOfCalls } from '../state/call-bytes.ts'
import type { KeyListeners, OnKeyChange } from '../state/key-events.ts'
import type { SizesPart, SizesRequest } from '../state/prefix-sizes.ts'
import { RecordKeys, RecordType, typeOf } from '../state/record-format.ts'
import { shardCodec } from '../state/shard-codec.ts'
import type { Call, PackedCalls, ShardAnswer, ShardCommand, Watched } from '../state/shard-command.ts'
import { ShardMachine } from '../state/shard-machine.ts'
import { type EvictionSettings, ruleOf } from './eviction-policy.ts'
import { Evictor } from './evictor.ts'
import { HotKeys } from './hot-keys.ts'
import type { HotKey, HotKeysRequest, ShardMemory } from './index-contract.ts'
import type { NodeGroup } from './node-host.ts'
import { type Program, ProgramLine } from './program-line.ts'
import type { NodeReads } from './read-listener.ts'
import { asIndexError } from './replica-errors.ts'
import { ShardBackups } from './shard-backups.ts'
import { LEFT, rankOfWaiter, WaitingCalls } from './waiting-calls.ts'

type ShardMemoryRegions = ReturnType<NodeReads['regions']>

/** What a replica is opened with. */
export interface ShardReplicaOptions {
  /** Of the log. */
  readonly name: string
  readonly admission: Admission
  readonly replicas: number
  readonly directory: string | undefined
  readonly append: AppendPolicy
  readonly memoryBytes: number
  readonly eviction: EvictionSettings
  readonly thread: 'own' | 'program'
  readonly spinMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** In a group of a fixed size, the ranks that found it. */
  readonly founders: readonly number[]
  /** The shard has begun, wherever that was. */
  readonly isFounded: boolean
  /** The lowest format of commands that all nodes know. */
  readonly commonFormat: () => number
  /** The shard on other nodes, for calls that come or wait when this one leaves it. */
  readonly elsewhere: ShardPort
  /** Are told what happens to keys, in each process that holds the shard. */
  readonly listeners: KeyListeners
  /** Where its replica runs. */
  readonly start: StartReplica
}

/** How many keys a shard has, and what they take. */
export interface ShardFigures {
  readonly keys: number
  /** Keys that will expire. */
  readonly expiring: number
  /** The same of each database that was used. */
  readonly databases: ShardMachine['databases']
  /** Calls that wait. */
  readonly waiting: number
  /** Keys that were evicted since this process holds the shard. */
  readonly evicted: number
  /** Bytes that keys, values and calls that wait take; what is bounded. */
  readonly usedBytes: number
  /** Bytes of shared memory that are held for strings and fields of hashes. */
  readonly heldBytes: number
}

/** How often the leader looks for keys that have expired, and for waiters whose node is gone. */
const SWEEP_MS = 100
/** Keys that are removed because they have expired, or waiters that are cancelled, in one look at most. */
const SWEEPS_MAX = 16
const SWEEP_TIMEOUT_MS = 5000
/** How long a call that may wait may take to be known to the state. */
const PROPOSE_MS = 30_000
/** How long calls that came may take when the node leaves the shard. */
const DRAIN_MS_MAX = 5000
const DRAIN_LOOK_MS = 5
/** How long it waits that another votes in its place. */
const REPLACED_MS_MAX = 1000
const BACKUP_LIMITS: CallLimits = { timeoutMs: 30_000, signal: undefined }

/** A node's replica of a shard, which it reads itself and changes through the log. */
export class ShardReplica implements ShardPort {
  readonly name: string
  readonly rank: number
  readonly #group: NodeGroup
  readonly #admission: Admission
  readonly #table: RecordTable
  readonly #shard: ShardMachine
  readonly #replicated: Replicated<ShardMachine>
  readonly #waiting: WaitingCalls
  readonly #keys = new RecordKeys()
  readonly #looks: RecordLooks
  readonly #programs: ProgramLine
  readonly #evictor: Evictor
  readonly #memoryBytes: number
  /** What this process sets for its writes; undefined: what the shard has. */
  #bound: number | undefined
  readonly #backups: ShardBackups
  readonly #hotKeys: HotKeys
  readonly #sweeper: NodeJS.Timeout
  /** Its own memory, as others see it. */
  #places: TableReader | undefined
  #regions: ShardMemoryRegions | undefined
  #isSweeping = false
  readonly #elsewhere: ShardPort
  #isLeaving = false
  #closing: Promise<void> | undefined

  private constructor(parts: {
    readonly group: NodeGroup
    readonly name: string
    readonly admission: Admission
    readonly table: RecordTable
    readonly shard: ShardMachine
    readonly replicated: Replicated<ShardMachine>
    readonly waiting: WaitingCalls
    readonly memoryBytes: number
    readonly eviction: EvictionSettings
    readonly backups: ShardBackups
    readonly elsewhere: ShardPort
  }) {
    this.name = parts.name
    this.rank = parts.group.rank
    this.#group = parts.group
    this.#admission = parts.admission
    this.#table = parts.table
    this.#looks = new RecordLooks(parts.table.chunks)
    this.#shard = parts.shard
    this.#replicated = parts.replicated
    this.#waiting = parts.waiting
    this.#memoryBytes = parts.memoryBytes
    this.#programs = new ProgramLine({
      withScratch: (use, limits) => this.#query((shard) => use(shard.scratch(Date.now(), this.#bound)), limits),
      propose: (command, limits) => this.#propose(command, limits),
    })
    this.#evictor = new Evictor(
      {
        get usedBytes() {
          return parts.shard.usedBytes
        },
        get keys() {
          return parts.shard.size
        },
        victims: (rule, count) => parts.shard.victims(rule, parts.table, { count, nowMs: Date.now() }),
        propose: (command) => this.#propose(command, { timeoutMs: SWEEP_TIMEOUT_MS, signal: undefined }),
      },
      parts.memoryBytes,
    )
    this.evict(parts.eviction)
    this.#backups = parts.backups
    this.#elsewhere = parts.elsewhere
    this.#hotKeys = new HotKeys(parts.table, parts.shard, () => parts.replicated.leader?.isSelf === true)
    parts.replicated.onApplied = (index) => parts.table.publish(index)
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** @throws ConsensusError if no leader is elected in time, or for what is wrong with the directory. */
  static async open(group: NodeGroup, options: ShardReplicaOptions): Promise<ShardReplica> {
    const {
      name,
      replicas,
      directory,
      append,
      memoryBytes,
      thread,
      spinMs,
      timeoutMs,
      signal,
      founders,
      isFounded,
      commonFormat,
    } = options
    const table = new RecordTable()
    const waiting = new WaitingCalls(group.rank)
    let replica: ShardReplica
    const backups = new ShardBackups((read) => replica.#query(read, BACKUP_LIMITS))
    const changed: OnKeyChange = (key, origin, db) => {
      backups.changed(key, db)
      options.listeners.onChange?.(key, origin, db)
    }
    const shard = new ShardMachine({
      records: table,
      memoryMax: memoryBytes,
      onServed: (waiter, reply) => waiting.served(waiter, reply),
      listeners: {
        get onEvent() {
          return options.listeners.onEvent
        },
        get onChange() {
          return backups.isRunning || options.listeners.onChange !== undefined ? changed : undefined
        },
      },
    })
    try {
      const replicated = await replicateIn<ShardMachine>(
        group,
        {
          name,
          machine: () => shard,
          codec: shardCodec,
          answerCodec,
          replicas,
          append,
          thread,
          spinMs,
          timeoutMs,
          founders,
          expectsLog: isFounded,
          formats: {
            known: COMMAND_FORMAT,
            common: commonFormat,
            inForce: (format) => {
              shard.format = format
            },
          },
          // No one asks for them, and they may be long.
          changesKept: 0,
          stateParts: () => shard.stateParts(),
          ...(directory === undefined ? {} : { directory }),
          ...(signal === undefined ? {} : { signal }),
        },
        options.start,
      )
      const { admission, eviction, elsewhere } = options
      replica = new ShardReplica({
        group,
        name,
        admission,
        table,
        shard,
        replicated,
        waiting,
        memoryBytes,
        eviction,
        backups,
        elsewhere,
      })
      return replica
    } catch (error) {
      table.close()
      throw error
    }
  }

  /** It takes part no more: its log has failed, or its state differs from the others'. */
  get isOver(): boolean {
    return this.#replicated.closed
  }

  /** Rank of the leader; undefined while none is known. */
  get leader(): number | undefined {
    return this.#replicated.leader?.leader
  }

  /** Ranks that vote, -1 for one that is not known; undefined until this replica has heard from a leader. */
  get voters(): readonly number[] | undefined {
    return this.#replicated.voters
  }

  get readers(): ReadersOf {
    return this.#replicated.readers
  }

  /** By which other processes of this machine read its records. */
  get tableDescriptor(): number {
    return this.#table.descriptor
  }

  /** What other machines READ of it. */
  memoryIn(regions: () => ShardMemoryRegions): Omit<ShardMemory, 'place'> | undefined {
    if (this.#closing !== undefined) return undefined
    this.#regions ??= regions()
    return this.#regions.told(this.#table, this.readers)
  }

  get figures(): ShardFigures {
    const { size, expiring, databases, waiting, evicted, usedBytes } = this.#shard
    return { keys: size, expiring, databases, waiting, evicted, usedBytes, heldBytes: this.#table.figures.bytes }
  }

  status(): Promise<ReplicatedStatus> {
    return this.#replicated.status()
  }

  async run(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    limits: CallLimits,
    apart: boolean = false,
  ): Promise<readonly Reply[] | null> {
    if (this.#isLeaving) return await this.#elsewhere.run(calls, watched, limits, apart)
    const plain = watched !== undefined ? { calls, watched, apart } : apart ? { calls, apart } : { calls }
    const command = this.#bound === undefined ? plain : { ...plain, bound: this.#bound }
    const propose = (left: CallLimits) => this.#propose(command, left)
    const admit = () => this.#evictor.admit(calls, propose, limits)
    return (await this.#admission.during(bytesOfCalls(calls), admit)) as readonly Reply[] | null
  }

  async runPacked(packed: PackedCalls, limits: CallLimits): Promise<readonly Reply[]> {
    if (this.#isLeaving) return await this.#elsewhere.runPacked(packed, limits)
    const plain = packed.count > 1 ? { packed, apart: true } : { packed }
    const command = this.#bound === undefined ? plain : { ...plain, bound: this.#bound }
    const admit = () => this.#evictor.admit(packed, (left) => this.#propose(command, left), limits)
    return (await this.#admission.during(bytesOfCalls(packed), admit)) as readonly Reply[]
  }

  read(calls: readonly Call[], limits: CallLimits): Promise<readonly Reply[]> {
    if (this.#isLeaving) return this.#elsewhere.read(calls, limits)
    return this.#admission.during(0, () => this.#query((shard) => shard.read(calls, Date.now()), limits))
  }

  versions(keys: readonly Uint8Array[], limits: CallLimits, db: number = 0): Promise<readonly number[]> {
    if (this.#isLeaving) return this.#elsewhere.versions(keys, limits, db)
    const read = (shard: ShardMachine) => keys.map((key) => shard.versionOf(key, Date.now(), db))
    return this.#admission.during(0, () => this.#query(read, limits))
  }

  /**
   * Run a program whose calls depend on each other's answers, and have it take effect as a whole. It runs in one piece,
   * and again if what it has touched has changed before that.
   * @throws IndexError `BUSY` if that happened each time; what the program throws.
   */
  runProgram<T>(program: Program<T>, limits: CallLimits, isReadOnly: boolean = false): Promise<T> {
    return this.#admission.during(0, () =>
      isReadOnly
        ? this.#programs.read(program, limits)
        : this.#evictor.admit([], (left) => this.#programs.run(program, left), limits),
    )
  }

  async wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    const endMs = performance.now() + waitMs
    const reply = this.#isLeaving ? LEFT : await this.#waitHere(call, waitMs, signal)
    if (reply !== LEFT) return reply
    const leftMs = waitMs === 0 ? 0 : Math.max(1, endMs - performance.now())
    return await this.#elsewhere.wait(call, leftMs, signal)
  }

  async #waitHere(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply | typeof LEFT> {
    signal?.throwIfAborted()
    let served: (reply: Reply | typeof LEFT) => void = () => undefined
    const comes = new Promise<Reply | typeof LEFT>((resolve) => {
      served = resolve
    })
    const waiter = this.#waiting.add(served)
    try {
      const limits = { timeoutMs: PROPOSE_MS, signal: undefined }
      const bound = this.#bound === undefined ? {} : { bound: this.#bound }
      const propose = (left: CallLimits) => this.#propose({ calls: [call], waiter, ...bound }, left)
      const answer = await this.#evictor.admit([call], propose, limits)
      if (Array.isArray(answer)) return (answer as readonly Reply[])[0]!
      const wait = over(waitMs, signal)
      const reply = await Promise.race([comes, wait.isOver]).finally(wait.end)
      if (reply !== OVER && reply !== LEFT) return reply
      // It may have been served in this moment.
      const last = await this.#propose({ cancel: waiter }, limits)
      if ('served' in last!) return last.served
      signal?.throwIfAborted()
      return reply === LEFT ? LEFT : null
    } finally {
      this.#waiting.remove(waiter)
    }
  }

  lookAt(key: Uint8Array, db: number = 0): Looked | undefined {
    if (!this.#isFresh()) return undefined
    this.#table.nowMs = Date.now()
    const record = this.#keys.ofKey(key, this.#table.spaceOf(db))
    if (this.#table.isCounting) this.#table.use(record)
    return lookedAt(this.#table.get(record))
  }

  lookAtField(key: Uint8Array, field: Uint8Array, db: number = 0): Looked | undefined {
    if (!this.#isFresh()) return undefined
    this.#table.nowMs = Date.now()
    const space = this.#table.spaceOf(db)
    const record = this.#keys.ofKey(key, space)
    if (this.#table.isCounting) this.#table.use(record)
    const hash = this.#table.get(record)
    if (hash === undefined || !isThere(hash)) return null
    if (typeOf(hash) !== RecordType.Hash) return 'other type'
    const value = this.#table.get(this.#keys.ofField(key, field, space))
    return value === undefined ? null : copyOf(value, 0, value.length)
  }

  /** A call is as fast here. */
  lookAtHash(): undefined {
    return undefined
  }

  async locate(key: Uint8Array, limits: CallLimits, field?: Uint8Array): Promise<PlacedOrNot> {
    if (this.#isLeaving) return await this.#elsewhere.locate(key, limits, field)
    return await againUntilKnown(limits, () => {
      if (!this.#isFresh()) return undefined
      this.#places ??= TableReader.open(process.pid, this.#table.descriptor)
      if (this.#places === undefined) return undefined
      const located = locate(this.#places, this.#keys, { key, field, space: this.#table.spaceOf(0) })
      return placeOnMachine(located, this.#places)
    })
  }

  looks(): RecordLooks | undefined {
    return this.#isFresh() ? this.#looks : undefined
  }

  async sizes(request: SizesRequest, limits: CallLimits): Promise<SizesPart> {
    if (this.#isLeaving) return await this.#elsewhere.sizes(request, limits)
    const part = await this.#query((shard) => shard.sizesPart(request, Date.now()), limits)
    // A query of a leader takes no turn of the event loop: others would wait for all parts.
    await turn()
    return part
  }

  /** Keys that are used most from now on, the most used first. */
  hotKeys(request: HotKeysRequest, signal: AbortSignal): Promise<readonly HotKey[]> {
    return this.#hotKeys.find(request, signal)
  }

  backup(): AsyncIterable<Uint8Array> {
    return this.#backups.run()
  }

  /** What becomes of keys when the memory is full, as far as this process writes. */
  evict({ policy, samples, boundBytes }: EvictionSettings): void {
    const rule = ruleOf(policy)
    this.#bound = boundBytes
    this.#evictor.boundBytes = boundBytes ?? this.#memoryBytes
    this.#evictor.rule = rule && { of: rule.of, by: rule.by, samples }
    this.#table.mark(rule?.marks, Date.now())
  }

  /** How many nodes write to the shard, with this one. */
  set writers(count: number) {
    this.#evictor.writers = count
  }

  /** Let another rank lead. False if it cannot, or this one does not. @throws ConsensusError */
  transferLeadership(rank: number): Promise<boolean> {
    return this.#replicated.transferLeadership(rank)
  }

  /** Vote no more, once another node votes instead. False if none does in time: it votes on. @throws ConsensusError */
  giveUpVote(): Promise<boolean> {
    return this.#replicated.giveUpVote(REPLACED_MS_MAX)
  }

  /** It stays after {@link giveUpVote}. */
  voteAgain(): void {
    this.#replicated.voteAgain()
  }

  /** Calls that came are answered, those that wait go on waiting where the shard is, and it is closed. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#waiting.leave()
    const endMs = performance.now() + DRAIN_MS_MAX
    while ((this.#admission.calls > 0 || this.#waiting.size > 0) && performance.now() < endMs)
      await sleep(DRAIN_LOOK_MS)
    await this.close()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweeper)
    this.#regions?.close()
    await this.#replicated.close()
    this.#places?.close()
    this.#table.close()
  }

  /** All that was answered to anyone is applied here. */
  #isFresh(): boolean {
    // It is over, and another comes: clients are not to end with it.
    if (this.#replicated.closed) return false
    const index = this.#replicated.confirm()
    return index !== undefined && index <= this.#table.applied
  }

  async #propose(command: ShardCommand, { timeoutMs, signal }: CallLimits): Promise<ShardAnswer> {
    try {
      return await this.#replicated.propose(command, signal === undefined ? { timeoutMs } : { timeoutMs, signal })
    } catch (error) {
      throw asIndexError(error)
    }
  }

  async #query<T>(read: (shard: ShardMachine) => T, { timeoutMs, signal }: CallLimits): Promise<T> {
    try {
      return await this.#replicated.query(read, signal === undefined ? { timeoutMs } : { timeoutMs, signal })
    } catch (error) {
      throw asIndexError(error)
    }
  }

  /** Remove what has expired, and what no one waits for any more. */
  #sweep(): void {
    if (this.#isSweeping || this.#closing !== undefined) return
    const commands = this.#leftOvers()
    if (commands.length === 0) return
    this.#isSweeping = true
    const limits = { timeoutMs: SWEEP_TIMEOUT_MS, signal: undefined }
    Promise.all(commands.map((command) => this.#propose(command, limits)))
      // The next look finds what is left.
      .catch(() => undefined)
      .finally(() => {
        this.#isSweeping = false
      })
  }

  #leftOvers(): ShardCommand[] {
    const commands: ShardCommand[] = []
    const leads = this.#replicated.leader?.isSelf === true
    if (leads && this.#shard.nextExpiryMs <= Date.now()) commands.push({ expire: true })
    for (const waiter of this.#shard.waiters) {
      if (!this.#isLeftOver(waiter, leads)) continue
      commands.push({ cancel: waiter })
      if (commands.length === SWEEPS_MAX) break
    }
    const forgotten = [...this.#shard.served.keys()].filter((waiter) => this.#isLeftOver(waiter, leads))
    if (forgotten.length > 0) commands.push({ forget: forgotten })
    return commands
  }

  /** Each node removes what it waits for no more, and the leader what nodes that are gone have waited for. */
  #isLeftOver(waiter: number, leads: boolean): boolean {
    const rank = rankOfWaiter(waiter)
    return rank === this.rank ? !this.#waiting.has(waiter) : leads && this.#group.isGone(rank)
  }
}

const OVER = Symbol('the time is over')

/** `isOver` when the time is, or the signal aborts, or at its `end`. */
function over(
  waitMs: number,
  signal: AbortSignal | undefined,
): { readonly isOver: Promise<typeof OVER>; readonly end: () => void } {
  let end = (): void => undefined
  const isOver = new Promise<typeof OVER>((resolve) => {
    end = () => {
      clearTimeout(timer)
      if (signal !== undefined) removeAbortCallback(signal, end)
      resolve(OVER)
    }
    const timer = waitMs === 0 ? undefined : setTimeout(end, Math.min(waitMs, TIMER_MS_MAX))
    // It may have aborted while the call was on its way.
    if (signal?.aborted === true) end()
    else if (signal !== undefined) addAbortCallback(signal, end)
  })
  return { isOver, end }
}

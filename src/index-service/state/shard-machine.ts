import {
  type ApplyContext,
  ConsensusError,
  FIRST_FORMAT,
  type ReplicatedMachine,
  type StateParts,
} from '../../consensus/index.ts'
import { DefectError } from '../../native/index.ts'
import { Blocked, type CommandContext, type CommandSpec } from '../commands/command.ts'
import { faultOfLengths } from '../commands/limits.ts'
import { CommandFault, type FaultReply, type Reply } from '../commands/reply.ts'
import { commandNamed, faultOfCall, fitsArity, OUT_OF_MEMORY } from '../commands/table.ts'
import type { RecordSampler, Records } from '../memory/records.ts'
import { bytesOf } from '../values/latin1.ts'
import { backupOfKeys, backupPart, type KeyOfDatabase } from './backup-items.ts'
import { Watching } from './change-watch.ts'
import { type DatabaseCounts, Databases } from './databases.ts'
import { KeyEvents, type KeyListeners } from './key-events.ts'
import { prefixSizes, type SizesPart, type SizesRequest } from './prefix-sizes.ts'
import { CommandRandom } from './random.ts'
import { ShardScratch } from './scratch.ts'
import { CallReader } from './shard-codec.ts'
import type { Call, PackedCalls, ShardAnswer, ShardCommand, Watched } from './shard-command.ts'
import { type CutStep, SnapshotCut } from './snapshot-cut.ts'
import { SnapshotReader, type SnapshotWriter } from './snapshot-stream.ts'
import { chooseVictims, type EvictionRule } from './victims.ts'
import { type Waiter, Waiters } from './waiters.ts'

/**
 * Raised whenever anything in snapshots changes. A release that has a further one writes it only while a format of
 * commands is in force that came with it: older releases take snapshots, too.
 */
const SNAPSHOT_VERSION = 3
/** Removed by one command at most, so that none takes long. */
const EXPIRED_MAX = 1000
/** Commands that remove a key before they make it again. */
const IN_STEPS: ReadonlySet<string> = new Set([
  ...['rename', 'renamenx', 'copy', 'restore', 'sort', 'zrangestore'],
  ...['sinterstore', 'sunionstore', 'sdiffstore', 'zinterstore', 'zunionstore', 'zdiffstore'],
])

/** What strings take at most, in bytes of their packed calls: `MSET` has 2 bytes for a string that takes 56. */
const GROWTH_MAX = 29
/** If fewer strings were set together, those that follow are set one by one. */
const FAST_MIN = 4

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

export interface ShardOptions {
  readonly records: Records
  /**
   * Bytes that may be used. Above it, commands that may need more are refused. The same in every process. Default:
   * without bound.
   */
  readonly memoryMax?: number
  /** Is told what a call that waited came to. It must not throw. */
  readonly onServed?: (waiter: number, reply: Reply) => void
  /**
   * Are told what happens to keys as the log is applied: in each process, and again if the log is read again after a
   * restart. A snapshot that is restored may change any key.
   */
  readonly listeners?: KeyListeners
}

/**
 * A shard as a replicated machine that understands Redis' commands. What commands answer follows from the log alone.
 *
 * - An error of a command is its reply. It undoes nothing, as in Redis.
 * - Calls that wait are a part of the state. So is what they came to, until it is forgotten. If the leader dies in
 *   between, the next one still has the element that was taken.
 */
export class ShardMachine implements ReplicatedMachine<ShardCommand, ShardAnswer> {
  readonly #records: Records
  readonly #memoryMax: number
  readonly #onServed: ShardOptions['onServed']
  readonly #waiters = new Waiters()
  readonly #random = new CommandRandom()
  /** Of the command that runs: one object for all. */
  readonly #context: Writable<CommandContext> = {
    timeMs: 0,
    index: 0,
    db: 0,
    databases: () => this.#databases,
    random: () => this.#random.next(),
    mayBlock: false,
    isRead: false,
    readyKey: undefined,
  }
  /** Is told which keys calls use, while someone wants to know. `isRead`: outside of the log, in this process alone. */
  onUse: ((db: number, key: Uint8Array, isRead: boolean) => void) | undefined
  /** The format of commands that is in force: see `MachineFormats`. */
  format: number = FIRST_FORMAT
  readonly #databases: Databases
  readonly #watching = new Watching()
  #cut: SnapshotCut | undefined
  readonly #events: KeyEvents | undefined
  /** Of the last command in the log. */
  #timeMs = 0
  #index = 0
  #evicted = 0
  /** The calls that run are not refused for want of memory. */
  #isAdmitted = false
  /** Of the calls that run: bytes that may be used. */
  #bound = Infinity

  constructor({ records, memoryMax = Infinity, onServed, listeners }: ShardOptions) {
    this.#events = listeners && new KeyEvents(listeners)
    this.#records = records
    this.#databases = new Databases({
      records,
      moment: this.#context,
      waitingKeys: (db) => this.#waiters.keysOf(db),
      events: this.#events,
      watching: this.#watching,
    })
    this.#memoryMax = memoryMax
    this.#onServed = onServed
  }

  /** What keys, values and calls that wait take. */
  get usedBytes(): number {
    return this.#databases.usedBytes + this.#waiters.usedBytes
  }

  /** How many keys there are. */
  get size(): number {
    return this.#databases.size
  }

  /** Of each database that was used: its keys, and those that will expire. */
  get databases(): readonly DatabaseCounts[] {
    return this.#databases.counts
  }

  /** How many keys will expire. */
  get expiring(): number {
    return this.#databases.expiring
  }

  /** When the next key expires; Infinity if none does. */
  get nextExpiryMs(): number {
    return this.#databases.nextExpiryMs
  }

  /** How many keys were evicted, as far as this process has applied the log. */
  get evicted(): number {
    return this.#evicted
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#waiters.size
  }

  /** Those that wait. */
  get waiters(): Iterable<number> {
    return this.#waiters.ids
  }

  /** What calls that waited came to, by their waiters, until it is forgotten. */
  get served(): ReadonlyMap<number, Reply> {
    return this.#waiters.served
  }

  apply(command: ShardCommand, { index, timeMs }: ApplyContext): ShardAnswer {
    this.#timeMs = timeMs
    this.#index = index
    this.#begin(timeMs, index)
    if ('calls' in command) {
      const answer = this.#answerOf(command)
      this.#serve()
      return answer
    }
    if ('packed' in command) {
      const replies = this.#answerPacked(command)
      this.#serve()
      return replies
    }
    if ('evict' in command) {
      const evicted = this.#evict(command.evict)
      this.#serve()
      return { evicted }
    }
    if ('cancel' in command) return this.#waiters.cancel(command.cancel)
    if ('forget' in command) return { forgotten: this.#waiters.forget(command.forget) }
    const expired = this.#databases.expireDue(EXPIRED_MAX)
    this.#serve()
    return { expired, nextMs: this.#databases.nextExpiryMs }
  }

  /**
   * Run calls that change nothing, without the log. A key that has expired by `nowMs` is not there.
   * @throws DefectError if one of them is a write.
   */
  read(calls: readonly Call[], nowMs: number): Reply[] {
    this.#beginRead(nowMs)
    return calls.map((call) => {
      if (commandNamed(call.name)?.isWrite) throw new DefectError(`${call.name} is a write, and was to be read`)
      return this.#reply(call)
    })
  }

  /** The version of a key for `watched`; 0 if it is not there by `nowMs`. */
  versionOf(key: Uint8Array, nowMs: number, db: number = 0): number {
    this.#beginRead(nowMs)
    return this.#databases.versionOf(db, key)
  }

  /**
   * Up to `count` keys that `rule` gives up first, as far as this process knows; for an `evict`. `sampler`: of its
   * records.
   */
  victims(
    rule: EvictionRule,
    sampler: RecordSampler,
    limits: { readonly count: number; readonly nowMs: number },
  ): readonly Watched[] {
    this.#beginRead(limits.nowMs)
    this.#records.nowMs = 0
    return chooseVictims(this.#databases, sampler, rule, limits)
  }

  /** Keys from a cursor on, see {@link backupPart}. */
  backupPart(cursor: number, nowMs: number): { readonly cursor: number; readonly items: Uint8Array } {
    this.#beginRead(nowMs)
    this.#records.nowMs = 0
    return backupPart(this.#databases, this.#records, cursor)
  }

  /** What keys take, see {@link prefixSizes}. */
  sizesPart(request: SizesRequest, nowMs: number): SizesPart {
    this.#beginRead(nowMs)
    this.#records.nowMs = 0
    return prefixSizes(this.#databases, this.#records, request)
  }

  /** What has become of keys, see {@link backupOfKeys}. */
  backupOfKeys(keys: readonly KeyOfDatabase[], isLast: boolean, nowMs: number): Uint8Array {
    this.#beginRead(nowMs)
    this.#records.nowMs = 0
    return backupOfKeys(this.#databases, keys, isLast)
  }

  /**
   * For calls that depend on each other's answers. `bound`: as of calls. It is of use until the next command in the log
   * is applied.
   */
  scratch(nowMs: number, bound: number = Infinity): ShardScratch {
    this.#beginRead(nowMs)
    this.#bound = Math.min(this.#memoryMax, bound)
    const { format } = this
    const source = this.#databases
    return new ShardScratch({ source, timeMs: nowMs, index: this.#index, isFull: this.#isFull, format })
  }

  get #isFull(): boolean {
    return this.#bound !== Infinity && this.usedBytes > this.#bound
  }

  *snapshot(): Generator<Uint8Array> {
    const cut = this.#cutNow(undefined)
    for (let chunks = cut.next(); chunks !== undefined; chunks = cut.next()) yield* chunks
  }

  /** The same while commands are applied. There is one at a time: it ends the one before. */
  stateParts(step?: CutStep): StateParts {
    this.#cut?.end()
    this.#cut = this.#cutNow(this.#watching, step)
    return this.#cut
  }

  #cutNow(watching: Watching | undefined, step?: CutStep): SnapshotCut {
    const encodeHead = (writer: SnapshotWriter): void => {
      writer.count(SNAPSHOT_VERSION)
      writer.f64(this.#index)
      writer.f64(this.#timeMs)
      this.#waiters.encode(writer)
    }
    const [databases, records, index] = [this.#databases, this.#records, this.#index]
    return new SnapshotCut({ databases, records, index, watching, encodeHead, step })
  }

  restore(chunks: readonly Uint8Array[]): void {
    const reader = new SnapshotReader(chunks)
    const version = reader.count()
    if (version !== SNAPSHOT_VERSION) {
      const what = `the snapshot of a shard has version ${version}, and this release of Aether reads ${SNAPSHOT_VERSION}`
      throw new ConsensusError('SNAPSHOT_VERSION', `${what}; install the release that wrote it`)
    }
    this.#index = reader.f64()
    this.#timeMs = reader.f64()
    this.#records.nowMs = this.#timeMs
    this.#waiters.decode(reader)
    this.#databases.decode(reader)
    for (const [waiter, reply] of this.#waiters.served) this.#onServed?.(waiter, reply)
  }

  #begin(timeMs: number, index: number): void {
    const context = this.#context
    context.timeMs = timeMs
    context.index = index
    context.isRead = false
    context.mayBlock = false
    context.readyKey = undefined
    this.#records.nowMs = timeMs
    this.#isAdmitted = false
    this.#bound = this.#memoryMax
    this.#random.seed(index)
  }

  /** For what changes nothing, outside of the log. */
  #beginRead(nowMs: number): void {
    this.#begin(nowMs, this.#index)
    this.#context.isRead = true
    // Replicas need not choose alike here.
    this.#random.seed(Math.floor(Math.random() * 2 ** 32))
  }

  #answerOf(command: Extract<ShardCommand, { calls: unknown }>): ShardAnswer {
    const { calls, watched, waiter, apart, admitted, bound } = command
    if (bound !== undefined) this.#bound = Math.min(this.#memoryMax, bound)
    this.#isAdmitted = admitted === true
    if (watched !== undefined && !watched.every((key) => this.#isUnchanged(key))) return null
    if (waiter !== undefined && calls.length === 1) return this.#waitingAnswer(calls[0]!, waiter)
    const run = (): Reply[] =>
      calls.map((call) => {
        const reply = this.#reply(call)
        if (apart === true && this.#waiters.size > 0) this.#serve()
        return reply
      })
    const replies = calls.length > 1 && apart !== true ? this.#asOne(run) : run()
    this.#isAdmitted = false
    return replies
  }

  /** Readers from outside see what `change` does as one change. */
  #asOne<T>(change: () => T): T {
    return this.#records.together === undefined ? change() : this.#records.together(change)
  }

  #answerPacked({ packed, apart, bound }: Extract<ShardCommand, { packed: unknown }>): Reply[] {
    if (bound !== undefined) this.#bound = Math.min(this.#memoryMax, bound)
    const run = (): Reply[] => this.#repliesTo(packed, apart === true)
    return packed.count > 1 && apart !== true ? this.#asOne(run) : run()
  }

  #repliesTo(packed: PackedCalls, isApart: boolean): Reply[] {
    const reader = new CallReader(packed)
    const replies: Reply[] = []
    let isFast = this.#records.setStrings !== undefined && !this.#isHeard
    while (replies.length < packed.count) {
      if (isFast && isStringSet(packed.bytes, reader.at) && this.#hasRoomFor(packed.bytes.length - reader.at)) {
        isFast = this.#setStrings(packed, reader, replies) >= FAST_MIN
        if (replies.length === packed.count) break
      }
      replies.push(this.#reply(reader.next()))
      if (isApart && this.#waiters.size > 0) this.#serve()
    }
    return replies
  }

  /** Someone is told of strings that are set. That differs between replicas. */
  get #isHeard(): boolean {
    return this.#events?.isHeard === true || this.onUse !== undefined
  }

  /**
   * Whether strings of `packedBytes` can be set before memory is used up. Calls in between may need more, so it is
   * asked each time: replicas that set strings one by one refuse from the first one on that finds no room.
   */
  #hasRoomFor(packedBytes: number): boolean {
    return this.#bound === Infinity || this.usedBytes + packedBytes * GROWTH_MAX <= this.#bound
  }

  /** How many calls were done. */
  #setStrings({ bytes, count }: PackedCalls, reader: CallReader, replies: Reply[]): number {
    // A look at a key that does not count as a use may have come before.
    this.#records.nowMs = this.#context.timeMs
    const part = { from: reader.at, count: count - replies.length }
    const { calls, added, offset } = this.#records.setStrings!(bytes, part, this.#index)
    if (added > 0) this.#databases.at(0).added(added)
    reader.at = offset
    for (let left = calls; left > 0; left -= 1) replies.push('OK')
    return calls
  }

  /** How many keys went, with those that had expired: they go when they are looked at. */
  #evict(victims: readonly Watched[]): number {
    const before = this.#databases.size
    for (const victim of victims)
      if (this.#isUnchanged(victim) && this.#databases.at(victim.db ?? 0).evict(victim.key)) this.#evicted += 1
    return before - this.#databases.size
  }

  /** A program depends on all that it has seen. */
  #isUnchanged({ key, version, db = 0 }: Watched): boolean {
    const databases = this.#databases
    return (this.#isAdmitted ? databases.stateVersionOf(db, key) : databases.versionOf(db, key)) === version
  }

  #waitingAnswer(call: Call, id: number): ShardAnswer {
    if (this.#waiters.has(id)) throw new DefectError(`waiter ${id} is used twice`)
    this.#context.mayBlock = true
    const reply = this.#run(call)
    if (!(reply instanceof Blocked)) return [reply]
    const { keys, blocking } = commandNamed(call.name)!
    // Apart from the rest of the command, which would be kept with them.
    const args = reply.args.map((argument) => Uint8Array.from(argument))
    this.#waiters.add(
      id,
      { ...call, args },
      keys(args)
        .slice(0, blocking?.isForFirst === true ? 1 : undefined)
        .map((at) => args[at]!),
    )
    return { waiting: true }
  }

  #reply(call: Call): Reply {
    this.#context.mayBlock = false
    this.#context.readyKey = undefined
    const reply = this.#run(call)
    return reply instanceof Blocked ? null : reply
  }

  #run({ name, args, db = 0, origin }: Call): Reply | Blocked {
    const spec = commandNamed(name, this.format)
    if (spec === undefined || !fitsArity(spec, args.length)) return faultOfCall(name, args, this.format)!
    if (spec.needsMemory && !this.#isAdmitted && this.#isFull) return OUT_OF_MEMORY
    if (db !== 0 && !Databases.has(db)) return NO_DATABASE
    const tooLong = faultOfLengths(spec, args)
    if (tooLong !== undefined) return tooLong
    this.#context.db = db
    this.#records.nowMs = spec.isGlance ? 0 : this.#context.timeMs
    if (this.onUse !== undefined && !spec.isGlance) this.#tellUse(spec, args, db)
    if (this.#events !== undefined) {
      this.#events.command = spec.event
      this.#events.origin = origin
    }
    try {
      if (!IN_STEPS.has(spec.name)) return spec.run(this.#databases.at(db), args, this.#context)
      return this.#asOne(() => spec.run(this.#databases.at(db), args, this.#context))
    } catch (error) {
      if (error instanceof CommandFault) return { fault: error.code, message: error.message }
      throw error
    }
  }

  #tellUse(spec: CommandSpec, args: readonly Uint8Array[], db: number): void {
    for (const at of spec.keys(args)) if (args[at] !== undefined) this.onUse?.(db, args[at], this.#context.isRead)
  }

  /** Calls that wait get what has come to their keys. What one of them does may make further keys ready. */
  #serve(): void {
    for (let isReady = true; isReady; ) {
      isReady = false
      for (const keyspace of this.#databases.held) {
        const ready = keyspace.takeReady()
        if (ready.length === 0 || this.#waiters.size === 0) continue
        isReady = true
        for (const name of ready) this.#serveKey(keyspace.db, name)
      }
    }
  }

  #serveKey(db: number, name: string): void {
    const key = bytesOf(name)
    for (const waiter of this.#waiters.of(db, name)) {
      const reply = this.#retry(waiter, key)
      if (reply instanceof Blocked) continue
      this.#waiters.serve(waiter, reply)
      this.#onServed?.(waiter.id, reply)
    }
  }

  #retry({ call, db }: Waiter, key: Uint8Array): Reply | Blocked {
    const { type, needsKey } = commandNamed(call.name)!.blocking!
    // A key of another type is not an error for those that waited already.
    if (this.#databases.at(db).typeOf(key) !== type && needsKey !== true) return new Blocked(call.args)
    this.#context.mayBlock = true
    this.#context.readyKey = key
    return this.#run(call)
  }
}

const NO_DATABASE: FaultReply = { fault: 'ERR', message: 'DB index is out of range' }

/** Whether a packed call may be SET or MSET, by its length and its first letter. */
function isStringSet(bytes: Uint8Array, at: number): boolean {
  const initial = bytes[at + 1]! | 0x20
  return (bytes[at] === 3 && initial === 0x73) || (bytes[at] === 4 && initial === 0x6d)
}

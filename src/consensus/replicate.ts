import { type Codec, checkCodec, structured } from '../codecs/index.ts'
import { RegionGroup } from '../dsm/index.ts'
import {
  checkFunction,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../native/index.ts'
import { openDevice } from '../verbs/index.ts'
import { type ReplicaPort, ReplicaProcess, type StartReplica } from './agent/replica-process.ts'
import { APPEND_POLICIES, type AppendPolicy } from './durability/append-policy.ts'
import { JournalThread } from './durability/journal-thread.ts'
import { ConsensusError } from './errors.ts'
import { foundAlone, foundFixed, isFounder, logOf, VoterRecord } from './founding.ts'
import type { MachineFormats } from './machine/formats.ts'
import type { AnswerOf, AnyMachine, CommandOf, StateParts } from './machine/machine.ts'
import { Meeting } from './meeting.ts'
import type { Configuration } from './replica/configuration.ts'
import { PROTOCOLS, takesRights } from './replica/rights.ts'
import { defaultSettings } from './replica/settings.ts'
import type { ReplicaGroup } from './replica-group.ts'
import { Replicated } from './replicated.ts'

/** Options of {@link replicate}. All members pass the same. */
export interface ReplicateOptions<Machine extends AnyMachine> {
  /** Tells this machine from others of the group. */
  readonly name: string
  /** Makes the state machine, in its first state. Called once in each process. */
  readonly machine: () => Machine
  /**
   * How many replicas vote, an odd number. A minority of them may end without loss. Default 3, or as many as the group
   * has. Further members follow the log, and vote when one has ended.
   */
  readonly replicas?: number
  /**
   * Where this process keeps the log, a directory of its own. An answer then means that a majority has the command on
   * its disks. Nothing that was answered is lost, even if all processes are killed at once: call this again with the
   * same directories. Default: none, and an answer means that a majority has it in memory.
   */
  readonly directory?: string
  /**
   * When the disk has a command: `always` before it is answered, `everysec` within a second or so, `no` when the
   * kernel brings it there. With the latter two an end of the machine loses what the disk has not, and no death of
   * processes does. They are for one replica: several that have lost different things could decide twice. Default
   * `always`.
   */
  readonly append?: AppendPolicy
  /** How commands become bytes. Default: `structured`. */
  readonly codec?: Codec<CommandOf<Machine>>
  /**
   * How long replicas remember the answers of a process that proposes nothing, in milliseconds of the log's time.
   * Default one hour.
   */
  readonly sessionMs?: number
  /** How long the thread of a replica looks for work before it sleeps, in milliseconds. Default 0. */
  readonly spinMs?: number
  /**
   * Where the replica runs. `own`: in a thread of its own, which answers while the program computes. `program`: on the
   * event loop of the program. Between processes of one machine a command then needs no switch of threads. A program
   * whose event loop stands still for 200 ms loses the lead. Default `own`.
   */
  readonly thread?: 'own' | 'program'
  /**
   * How leaders store entries in the memory of this process. `velos`: by compare-and-swap. `mu`: by WRITE alone, which
   * one leader at a time has the right to, on devices whose rights hold. A new leader then waits for each replica's
   * thread to give it that right. `auto`: `mu` where a device's compare-and-swap takes much longer than a WRITE.
   * Processes of one machine may differ in it. Default `auto`.
   */
  readonly protocol?: 'auto' | 'mu' | 'velos'
  /** How long to wait for a leader, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** @internal How answers become bytes. Default: `structured`. */
  readonly answerCodec?: Codec<AnswerOf<Machine>>
  /** @internal In a group of a fixed size: the ranks that found it, in place of the first ones. */
  readonly founders?: readonly number[]
  /** @internal There is a log, though this directory may have nothing of it yet: do not begin one. */
  readonly expectsLog?: boolean
  /** @internal Where releases understand different commands. Default: all understand all. */
  readonly formats?: MachineFormats
  /** @internal How many changes are kept for `changes()`. Default 4,096. */
  readonly changesKept?: number
  /** @internal The state of the machine while commands are applied, in place of its `snapshot()`. */
  readonly stateParts?: () => StateParts
}

const optionNames: OptionNames<ReplicateOptions<AnyMachine>> = {
  name: true,
  machine: true,
  replicas: true,
  directory: true,
  append: true,
  codec: true,
  sessionMs: true,
  spinMs: true,
  thread: true,
  protocol: true,
  timeoutMs: true,
  signal: true,
  answerCodec: true,
  founders: true,
  expectsLog: true,
  formats: true,
  changesKept: true,
  stateParts: true,
}

const DEFAULT_REPLICAS = 3
const REPLICAS_MAX = 7
const DEFAULT_SESSION_MS = 3_600_000
const DEFAULT_TIMEOUT_MS = 30_000
/** A program that takes nothing for this long is not to lead. */
const PROGRAM_NS_MAX = 1e9

/**
 * Open a state machine that every process of the group has, in the same state. Commands are decided in one order by a
 * majority of the replicas, and applied by each. A machine outlives any minority of them.
 *
 * ```ts
 * await using group = await join()
 * await using counter = await replicate(group, { name: 'counter', machine: () => new Counter() })
 * const value = await counter.propose({ add: 5 })
 * ```
 *
 * Every member of the group may open it, now or later; those of the first `replicas` ranks found it. In a group
 * that grows, it begins when `replicas` members have opened it.
 * @throws ConsensusError `ERR_AETHER_CONSENSUS_TIMEOUT` if no leader is elected in time, and
 *   `ERR_AETHER_CONSENSUS_LOG_…` for what is wrong with the directory; ArgumentError.
 * @throws UnsupportedError For the protocol `mu` on a device whose rights do not hold.
 */
export async function replicate<Machine extends AnyMachine>(
  group: RegionGroup,
  options: ReplicateOptions<Machine>,
): Promise<Replicated<Machine>> {
  if (!(group instanceof RegionGroup)) throw mustBe('group', 'a group, as join() resolves with', group)
  if (options?.protocol === 'mu') {
    using device = openDevice(group.device)
    takesRights(device, 'mu')
  }
  return await replicateIn(group, options, (process) => ReplicaProcess.start(process))
}

/** @internal The same where replicas run elsewhere, as in simulations. */
export async function replicateIn<Machine extends AnyMachine>(
  group: ReplicaGroup,
  options: ReplicateOptions<Machine>,
  start: StartReplica,
): Promise<Replicated<Machine>> {
  const plan = planOf(options)
  const settings = defaultSettings
  const wanted = group.grows ? plan.replicas : Math.min(plan.replicas, group.size)
  const founders = plan.founders ?? Array.from({ length: wanted }, (_, rank) => rank)
  const machine = checkMachine(plan.machine())
  const journal: JournalThread | undefined = await openJournal(plan, () => replicated)
  const record = group.grows ? new VoterRecord(group, plan.name) : undefined
  const { expectsLog } = plan
  const own = journal && { id: journal.id, log: logOf(journal.recovered), expectsLog }
  const meeting = new Meeting(group, plan.name, own)
  const replicated: Replicated<Machine> = new Replicated<Machine>({
    group,
    name: plan.name,
    machine,
    codec: plan.codec,
    answerCodec: plan.answerCodec,
    sessionMs: plan.sessionMs,
    changesKept: plan.changesKept,
    stateParts: plan.stateParts,
    formats: plan.formats,
    cellBytes: settings.cellBytes,
    rankOf: (id) => meeting.rankOf(id),
    idOf: (rank) => meeting.idOf(rank),
    isDurable: journal !== undefined,
    sights: () => meeting.sights,
    onConfiguration: (configuration) => {
      meeting.log = configuration.log
      // Only a group that is closed takes nothing.
      record?.write(configuration).catch(() => {})
    },
    onClose: async () => {
      meeting.close()
      await journal?.close()
      await record?.close()
    },
  })
  let process: ReplicaPort | undefined
  try {
    process = await start({
      device: group.device,
      id: meeting.id,
      settings,
      protocol: plan.protocol,
      founding: journal ? undefined : await foundingOf(meeting, record, founders),
      votersWanted: wanted,
      journal: journal && { port: journal.port, bell: journal.bell, recovered: journal.recovered },
      snapshot: journal?.recovered.snapshot?.bytes,
      programNsMax: PROGRAM_NS_MAX,
      spinNs: plan.spinMs * 1e6,
      isLocal: plan.thread === 'program',
      onNews: (kind, bytes) => replicated.take(kind, bytes),
      onSay: (to, card) => meeting.say(to, card),
    })
    journal?.forgetRecovered()
    replicated.attach(process)
    const strangers = new AbortController()
    meeting.onStranger = (error) => strangers.abort(error)
    if (journal)
      meeting.onMet = onceFounder(group, meeting, founders, () => {
        found(meeting, record, process!).catch((error) => strangers.abort(error))
      })
    meeting.begin(process, await process.sight(meeting.id))
    meeting.onMet()
    const signal = plan.signal === undefined ? strangers.signal : AbortSignal.any([plan.signal, strangers.signal])
    await replicated.whenReady(wanted, plan.timeoutMs, signal)
    // What was decided before is here, too.
    await replicated.query(() => undefined, { timeoutMs: plan.timeoutMs, signal })
    return replicated
  } catch (error) {
    const missing = journal && process && (await missingVoters(meeting, process))
    await replicated.close()
    throw missing && isTimeout(error) ? missing : error
  }
}

async function openJournal(
  { directory, name, append, timeoutMs }: Pick<Plan<AnyMachine>, 'directory' | 'name' | 'append' | 'timeoutMs'>,
  replicated: () => Pick<Replicated<AnyMachine>, 'fail' | 'diskIs'>,
): Promise<JournalThread | undefined> {
  if (directory === undefined) return undefined
  return await JournalThread.open({
    ...{ directory, name, append, timeoutMs },
    onFailure: (error) => replicated().fail(error),
    onState: (state) => replicated().diskIs(state),
  })
}

function foundingOf(
  meeting: Meeting,
  record: VoterRecord | undefined,
  founders: readonly number[],
): Promise<Configuration | undefined> | Configuration | undefined {
  return record === undefined ? foundFixed(founders, meeting.id) : record.found(meeting, founders.length)
}

/** Begin the log that journals are to keep. */
async function found(meeting: Meeting, record: VoterRecord | undefined, process: ReplicaPort): Promise<void> {
  const configuration = record === undefined ? foundAlone(meeting.id) : await record.foundOnce(meeting.id)
  if (configuration === undefined) return
  meeting.log = configuration.log
  process.found(configuration)
}

function isTimeout(error: unknown): boolean {
  return error instanceof ConsensusError && error.code === 'ERR_AETHER_CONSENSUS_TIMEOUT'
}

/** Where those who came are no majority of a log's voters: whose directories are missing. */
async function missingVoters(meeting: Meeting, process: ReplicaPort): Promise<ConsensusError | undefined> {
  const voters = (await process.status()).configuration?.voters ?? []
  const missing = voters.filter(({ id }) => !meeting.met.has(id))
  if (2 * missing.length < voters.length || missing.length === 0) return undefined
  const which = `${missing.length} of the ${voters.length} replicas that vote on this log have not come`
  const ids = missing.map(({ id }) => id).join(', ')
  const what = `${which}; start the processes whose directories have these ids in their file 'identity': ${ids}`
  return new ConsensusError('TIMEOUT', what, { outcome: 'not-applied' })
}

/** A listener that calls `then` once, when this process is to found the log. */
function onceFounder(group: ReplicaGroup, meeting: Meeting, founders: readonly number[], then: () => void): () => void {
  let isOver = false
  return () => {
    if (isOver || !isFounder(group, meeting.met, founders)) return
    isOver = true
    then()
  }
}

type Plan<Machine extends AnyMachine> = Required<
  Omit<
    ReplicateOptions<Machine>,
    'signal' | 'directory' | 'founders' | 'answerCodec' | 'changesKept' | 'formats' | 'stateParts'
  >
> & {
  readonly answerCodec: Codec<AnswerOf<Machine>> | undefined
  readonly directory: string | undefined
  readonly founders: readonly number[] | undefined
  readonly signal: AbortSignal | undefined
  readonly changesKept: number | undefined
  readonly formats: MachineFormats | undefined
  readonly stateParts: (() => StateParts) | undefined
}

function planOf<Machine extends AnyMachine>(options: ReplicateOptions<Machine>): Plan<Machine> {
  checkOptions('replicate', options, optionNames)
  const {
    name,
    machine,
    replicas = DEFAULT_REPLICAS,
    directory,
    append = 'always',
    codec = structured as Codec<CommandOf<Machine>>,
    sessionMs = DEFAULT_SESSION_MS,
    spinMs = 0,
    thread = 'own',
    protocol = 'auto',
    timeoutMs = DEFAULT_TIMEOUT_MS,
    signal,
    answerCodec,
    founders,
    expectsLog = false,
    changesKept,
    formats,
    stateParts,
  } = (options ?? {}) as ReplicateOptions<Machine>
  checkText('options.name', name)
  checkFunction('options.machine', machine, 'which makes the state machine')
  checkWhole('options.replicas', replicas, 1, REPLICAS_MAX)
  if (replicas % 2 === 0)
    throw mustBe('options.replicas', 'an odd number: a majority of 4 outlives no more than of 3', replicas)
  if (directory !== undefined) checkText('options.directory', directory)
  checkAppend(append, replicas, directory)
  checkCodec(codec)
  checkMilliseconds('options.sessionMs', sessionMs)
  if (spinMs !== 0) checkMilliseconds('options.spinMs', spinMs)
  if (thread !== 'own' && thread !== 'program') throw mustBe('options.thread', "'own' or 'program'", thread)
  if (!PROTOCOLS.includes(protocol)) throw mustBe('options.protocol', `one of ${PROTOCOLS.join(', ')}`, protocol)
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkSignal('options.signal', signal)
  return {
    name,
    machine,
    replicas,
    directory,
    append,
    codec,
    sessionMs,
    spinMs,
    thread,
    protocol,
    timeoutMs,
    signal,
    answerCodec,
    founders,
    expectsLog,
    changesKept,
    formats,
    stateParts,
  }
}

/** @throws ArgumentError */
export function checkAppend(append: AppendPolicy, replicas: number, directory: string | undefined): void {
  if (!APPEND_POLICIES.includes(append)) throw mustBe('options.append', `one of ${APPEND_POLICIES.join(', ')}`, append)
  if (append !== 'always' && replicas > 1)
    throw mustBe('options.append', "'always' unless options.replicas is 1: several could lose different things", append)
  if (append !== 'always' && directory === undefined)
    throw mustBe('options.append', "'always' without options.directory: there is no disk", append)
}

/** @throws ArgumentError */
function checkMachine<Machine extends AnyMachine>(machine: Machine): Machine {
  const methods = ['apply', 'snapshot', 'restore'] as const
  if (typeof machine === 'object' && machine !== null && methods.every((name) => typeof machine[name] === 'function'))
    return machine
  throw mustBe('options.machine()', 'an object with the methods apply, snapshot and restore', machine)
}

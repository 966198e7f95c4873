/** The machine that the thread of a replica runs: a {@link Replica}, and two rings to the program. */
import { AetherError, DefectError, native } from '../../native/index.ts'
import { traceChannel } from '../../profiling/index.ts'
import { type AgentContext, LookBudget, type Machine, type MachineFactory, type Reply } from '../../runtime/index.ts'
import type { MemoryRegion } from '../../verbs/index.ts'
import { JournalPort } from '../durability/journal-port.ts'
import type { Entry } from '../replica/cell.ts'
import type { Configuration } from '../replica/configuration.ts'
import type { ReplicaCard } from '../replica/connections.ts'
import type { Recovered } from '../replica/journal.ts'
import { PayloadSlab } from '../replica/payload-slab.ts'
import type { PassedEntry } from '../replica/proposer.ts'
import { Replica } from '../replica/replica.ts'
import { NOTHING, numbers } from '../replica/replica-messages.ts'
import {
  Demand,
  ENTRY_HEAD_BYTES,
  type MetReplica,
  News,
  type ReplicaAgentData,
  type ReplicaStatus,
} from './agent-contract.ts'
import { ByteRing } from './byte-ring.ts'
import { rehearse } from './rehearsal.ts'
import { ReplicaEnds } from './replica-ends.ts'

const trace = traceChannel('consensus')

/** More than this is not kept for a program that takes nothing. The replica then takes no more entries. */
const BACKLOG_BYTES_MAX = 16 * 2 ** 20

const NOTHING_HELD: Recovered = { promise: 0, decided: 0, snapshot: undefined, entries: [] }

/** Of a snapshot that is being taken. */
interface SnapshotPartAdded {
  readonly part: Uint8Array
  readonly index: number
  readonly isFirst: boolean
}

export class ReplicaAgent implements Machine {
  readonly #context: AgentContext
  readonly #data: ReplicaAgentData
  readonly #replica: Replica
  readonly #journal: JournalPort | undefined
  readonly #ends = new ReplicaEnds((id) => this.#replica.ended(id))
  /** What it is made of, and the result. */
  #endDescriptors: readonly number[] | undefined
  #descriptors: readonly number[] = []
  readonly #toAgent: ByteRing
  readonly #toProgram: ByteRing
  /** What the ring had no room for. */
  #backlog: { readonly kind: number; readonly bytes: Uint8Array }[] = []
  #backlogBytes = 0
  readonly #head = new DataView(new ArrayBuffer(ENTRY_HEAD_BYTES))
  readonly #headBytes = new Uint8Array(this.#head.buffer)
  #restores = 0
  /** How far the program was, and since when. */
  #position = 0
  #positionNs = 0
  #hasPushed = false
  readonly #payloads = new PayloadSlab()
  readonly #budget = new LookBudget()
  /** Something was asked for since it slept, so that more may come. */
  #isAsked = false

  #hasRehearsed = false

  readonly #commands: Readonly<Record<string, (payload: unknown, reply: Reply) => void>> = {
    meet: (met, reply) => reply.resolve(this.#meet(met as MetReplica)),
    hear: (card, reply) => reply.resolve(this.#replica.hear(card as ReplicaCard)),
    ended: (id, reply) => {
      this.#ends.forget(id as number)
      reply.resolve(this.#replica.ended(id as number))
    },
    addToSnapshot: (added, reply) => {
      const { part, index, isFirst } = added as SnapshotPartAdded
      reply.resolve(this.#replica.addToSnapshot(part, index, isFirst))
    },
    offerSnapshot: (offered, reply) => {
      const { index, first } = offered as { readonly index: number; readonly first: Uint8Array }
      reply.resolve(this.#replica.offerSnapshot(index, first))
    },
    transfer: (id, reply) => reply.resolve(this.#replica.transfer(id as number)),
    leave: (isPatient, reply) => this.#replica.leave(() => reply.resolve(undefined), isPatient === true),
    stay: (_, reply) => reply.resolve(this.#replica.stay()),
    found: (configuration, reply) => reply.resolve(this.#replica.found(configuration as Configuration)),
    restarted: (id, reply) => {
      this.#ends.forget(id as number)
      reply.resolve(this.#replica.restarted(id as number))
    },
    status: (_, reply) => reply.resolve(this.#status()),
    memory: (_, reply) => reply.resolve(this.#replica.memory.descriptor),
  }

  constructor(context: AgentContext, data: ReplicaAgentData) {
    this.#context = context
    // Not what the journal has held, which may be much.
    this.#data = data.journal === undefined ? data : { ...data, journal: { ...data.journal, recovered: NOTHING_HELD } }
    this.#toAgent = new ByteRing(data.toAgent)
    this.#toProgram = new ByteRing(data.toProgram)
    const { device, id, settings, protocol, founding, votersWanted, journal } = data
    this.#journal = journal && new JournalPort(journal.port)
    const durability = journal && { journal: this.#journal!, recovered: journal.recovered }
    this.#replica = new Replica({
      ...{ device, id, settings, protocol, founding, votersWanted, durability },
      ...{ runtime: context.runtime, clockMs: Date.now },
      events: {
        decided: (entry) => this.#decided(entry),
        say: (to, card) => context.notify({ type: 'say', to, card }),
        proposeAgain: () => this.#push(News.ProposeAgain, NOTHING),
        snapshotWanted: () => this.#push(News.SnapshotWanted, NOTHING),
        restore: (index, bytes) => {
          this.#restores += 1
          const { term, leaderId: leader = 0, configuration } = this.#replica
          context.notify({
            type: 'restore',
            number: this.#restores,
            index,
            term,
            leader,
            configuration: configuration!,
            bytes,
          })
          this.#push(News.Restore, numbers(this.#restores))
        },
        readable: (token, index = -1) => this.#push(News.Readable, numbers(token, index)),
        deviates: () => this.#push(News.Deviates, NOTHING),
        isResponsive: () => this.#isResponsive(),
        mayTake: () => this.#backlogBytes < BACKLOG_BYTES_MAX,
      },
    })
    if (journal !== undefined) this.#replica.recover(journal.recovered)
  }

  get descriptors(): readonly number[] {
    const ends = this.#ends.descriptors
    if (ends !== this.#endDescriptors) {
      const { journal } = this.#data
      this.#endDescriptors = ends
      this.#descriptors = [...this.#replica.descriptors, ...(journal === undefined ? [] : [journal.bell]), ...ends]
    }
    return this.#descriptors
  }

  /** Of the replica, for simulations. */
  get region(): MemoryRegion {
    return this.#replica.memory.region
  }

  turn(): boolean {
    const now = this.#context.runtime.now()
    let any = this.#toAgent.drain((kind, bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset)
      if (kind === Demand.Propose) this.#replica.propose(this.#payloads.copy(bytes))
      else if (kind === Demand.Checked) this.#replica.checked(view.getFloat64(0, true), view.getFloat64(8, true))
      else this.#replica.askIndex(view.getFloat64(0, true))
      return true
    })
    any = this.#hearJournal() || any
    any = this.#ends.lookIfDue(now) || any
    any = this.#replica.turn() || any
    if (this.#replica.askedNs === now) this.#asked(now)
    if (this.#backlog.length > 0) this.#flushBacklog()
    if (this.#hasPushed) {
      this.#hasPushed = false
      if (this.#toProgram.mustWake()) native.ringPipe(this.#data.bell)
    }
    return any
  }

  /** See {@link Replica.pass}. For a program of the same thread. */
  pass(applied: number): PassedEntry | undefined {
    return this.#backlog.length > 0 ? undefined : this.#replica.pass(applied)
  }

  /** A replica that is asked for something is likely to be asked again: others have nothing to wait for. */
  looksOn(): boolean {
    const now = this.#context.runtime.now()
    if (now - this.#replica.askedNs < this.#data.spinNs) return true
    if (this.#isAsked && this.#budget.looksOn(now / 1e6)) return true
    this.#isAsked = false
    return false
  }

  prepareSleep(): boolean {
    if (this.#data.journal !== undefined) native.drainPipe(this.#data.journal.bell)
    if (this.#hearJournal()) return false
    const sleeps = this.#toAgent.sleep() && this.#replica.prepareSleep()
    // A turn of the replica may have news for the program.
    return !this.#hasPushed && sleeps
  }

  readable(descriptor: number): void {
    if (this.#ends.descriptors.includes(descriptor)) this.#ends.look()
  }

  command(name: string, payload: unknown, reply: Reply): void {
    this.#commands[name]!(payload, reply)
  }

  close(): void {
    this.#ends.close()
    this.#replica.close()
  }

  #meet({ id, life }: MetReplica): void {
    // Only on one machine is a death seen so soon that it matters.
    if (life !== undefined) this.#rehearse()
    this.#replica.meet(id)
    if (life !== undefined) this.#ends.watch(id, life)
  }

  /** Not where it would be taken for a real one. */
  #rehearse(): void {
    if (this.#hasRehearsed || trace.enabled) return
    this.#hasRehearsed = true
    try {
      rehearse(this.#data.device, this.#data.protocol)
    } catch (error) {
      // What it lacked, memory or descriptors, is told when it is needed.
      if (!(error instanceof AetherError) || error instanceof DefectError) throw error
    }
  }

  #hearJournal(): boolean {
    const records = this.#journal?.take()
    if (records === undefined) return false
    this.#replica.synced(records)
    return true
  }

  #asked(nowNs: number): void {
    this.#isAsked = true
    if (this.#budget.isLooking) this.#budget.found(nowNs / 1e6)
  }

  #status(): ReplicaStatus {
    const { id, term, leaderId, isLeader, taken, durable, configuration, lags, deviating, lastFailOver } = this.#replica
    const stands = { id, term, leader: leaderId, isLeader, decided: taken, durable }
    const { isByRights } = this.#replica.memory
    return { ...stands, configuration, lags, deviating, isByRights, lastFailOver }
  }

  #decided({ index, timeMs, term, flags, payload }: Entry): void {
    const head = this.#head
    head.setFloat64(0, index, true)
    head.setFloat64(8, timeMs, true)
    head.setUint32(16, term, true)
    head.setUint32(20, flags, true)
    this.#push(News.Entry, this.#headBytes, payload)
  }

  #push(kind: number, first: Uint8Array, second: Uint8Array = NOTHING): void {
    this.#hasPushed = true
    if (this.#backlog.length === 0 && this.#toProgram.push(kind, first, second)) return
    const bytes = Buffer.concat([first, second])
    this.#backlog.push({ kind, bytes })
    this.#backlogBytes += bytes.length
  }

  #flushBacklog(): void {
    let count = 0
    for (const { kind, bytes } of this.#backlog) {
      if (!this.#toProgram.push(kind, bytes)) break
      this.#backlogBytes -= bytes.length
      count += 1
    }
    if (count === 0) return
    this.#backlog = this.#backlog.slice(count)
    this.#hasPushed = true
  }

  /** Whether the program takes what there is for it. */
  #isResponsive(): boolean {
    const now = this.#context.runtime.now()
    const { position } = this.#toProgram
    if (this.#toProgram.isEmpty || position !== this.#position) {
      this.#position = position
      this.#positionNs = now
    }
    return now - this.#positionNs < this.#data.programNsMax
  }
}

export const createMachine: (...parts: Parameters<MachineFactory>) => ReplicaAgent = (context, data) =>
  new ReplicaAgent(context, data as ReplicaAgentData)

import process from 'node:process'
import { native, TIMER_MS_MAX, type Watcher } from '../../native/index.ts'
import { Agent, LocalAgent, LookBudget, ownLife, soon } from '../../runtime/index.ts'
import type { Configuration } from '../replica/configuration.ts'
import type { ReplicaCard } from '../replica/connections.ts'
import type { Recovered } from '../replica/journal.ts'
import type { PassedEntry } from '../replica/proposer.ts'
import type { ReplicaSight } from '../replica/replica-head.ts'
import {
  type AgentNote,
  Demand,
  type MetReplica,
  type ReplicaAgentData,
  type ReplicaStatus,
  type SnapshotBytes,
} from './agent-contract.ts'
import { ByteRing } from './byte-ring.ts'
import { createMachine, type ReplicaAgent } from './replica-agent.ts'

export interface ReplicaProcessOptions extends Omit<ReplicaAgentData, 'toAgent' | 'toProgram' | 'bell'> {
  /** Of the journal. The replica does not need its bytes, which may be as many as all others of the program. */
  readonly snapshot: Uint8Array | undefined
  /** The replica runs on the event loop of the program, and not in a thread of its own. */
  readonly isLocal: boolean
  /** A record of `News`; `bytes` are valid during the call. False: later, and nothing behind it before. */
  readonly onNews: (kind: number, bytes: Uint8Array) => boolean
  readonly onSay: (to: number, card: ReplicaCard) => void
}

/** What a program does with its replica, wherever that runs. */
export type ReplicaPort = Pick<ReplicaProcess, keyof ReplicaProcess>

/** Starts a replica. */
export type StartReplica = (options: ReplicaProcessOptions) => Promise<ReplicaPort>

const RING_BYTES = 2 ** 20
/** Records that are handed over before the event loop has its turn. */
const RECORDS_PER_TURN = 2048

/**
 * The program's side of the agent in which a replica runs. The event loop takes what comes from there. While something
 * is expected from a thread, it looks again before it sleeps, if that pays. A local agent has it taken at once.
 */
export class ReplicaProcess {
  readonly #toAgent = new ByteRing(RING_BYTES)
  readonly #toProgram = new ByteRing(RING_BYTES)
  readonly #bell = native.createPipe()
  readonly #onNews: ReplicaProcessOptions['onNews']
  readonly #spinMs: number
  readonly #watcher: Watcher
  readonly #budget = new LookBudget()
  /** Keeps the event loop alive while something is expected. */
  readonly #alive = setInterval(() => undefined, TIMER_MS_MAX).unref()
  readonly #unsent: Uint8Array[] = []
  /** Snapshots that the agent has fetched, by number. */
  readonly #restores = new Map<number, SnapshotBytes>()
  readonly #isLocal: boolean
  /** Of the journal, until the replica says that it begins with it. */
  #snapshot: Uint8Array | undefined
  #agent: Agent | LocalAgent | undefined
  /** Of a local agent. */
  #machine: ReplicaAgent | undefined
  #expected = 0
  #scheduled = false
  #takesSoon = false
  #asleepMs = -1
  #spinsUntilMs = 0
  #closed = false

  private constructor(options: ReplicaProcessOptions) {
    this.#onNews = options.onNews
    this.#spinMs = options.spinNs / 1e6
    this.#isLocal = options.isLocal
    this.#snapshot = options.snapshot
    this.#watcher = native.createWatcher(() => {
      native.drainPipe(this.#bell[0])
      this.#watcher.rearm(0)
      if (this.#asleepMs >= 0) this.#budget.slept(performance.now() - this.#asleepMs)
      this.#asleepMs = -1
      this.#turn()
    })
    this.#watcher.add(0, this.#bell[0])
  }

  static async start(options: ReplicaProcessOptions): Promise<ReplicaProcess> {
    const started = new ReplicaProcess(options)
    const { onNews: _onNews, onSay, isLocal, snapshot: _snapshot, ...rest } = options
    const data: ReplicaAgentData = {
      ...rest,
      journal: rest.journal && { ...rest.journal, recovered: withoutBytes(rest.journal.recovered) },
      toAgent: started.#toAgent.buffer,
      toProgram: started.#toProgram.buffer,
      bell: started.#bell[1],
    }
    const common = {
      data,
      seed: process.pid,
      onNote: (note: unknown): void => {
        const said = note as AgentNote
        if (said.type === 'say') onSay(said.to, said.card)
        else {
          started.#restore(said)
        }
      },
    }
    try {
      started.#agent = isLocal
        ? new LocalAgent({
            ...common,
            createMachine: (context, machineData) => {
              started.#machine = createMachine(context, machineData)
              return started.#machine
            },
            onTurned: () => started.#turnedSoon(),
          })
        : await Agent.start({
            ...common,
            machine: new URL('./replica-agent.js', import.meta.url),
            spinNs: 0,
            transferList: data.journal === undefined ? [] : [data.journal.port],
          })
    } catch (error) {
      started.#release()
      throw error
    }
    started.#schedule()
    return started
  }

  /** The snapshot that a record of `News.Restore` names; undefined until it has come. */
  takeRestore(number: number): SnapshotBytes | undefined {
    const restore = this.#restores.get(number)
    this.#restores.delete(number)
    return restore
  }

  #restore(said: SnapshotBytes & { readonly number: number }): void {
    const bytes = said.bytes.length > 0 ? said.bytes : this.#snapshot!
    this.#snapshot = undefined
    this.#restores.set(said.number, { ...said, bytes })
    this.#schedule()
  }

  /** Something is expected from the agent, until {@link unexpect}: the event loop stays alive. */
  expect(): void {
    this.#expected += 1
    if (this.#expected === 1) this.#alive.ref()
    // A local agent says so itself.
    if (!this.#isLocal) this.#schedule()
  }

  unexpect(): void {
    this.#expected -= 1
    if (this.#expected === 0) this.#alive.unref()
  }

  /** `records` are copied. */
  propose(records: Uint8Array): void {
    if (this.#closed) return
    if (this.#unsent.length > 0 || !this.#toAgent.push(Demand.Propose, records)) {
      this.#unsent.push(records.slice())
      this.#schedule()
    }
    this.#ring()
  }

  /** See `Replica.pass`. */
  pass(applied: number): PassedEntry | undefined {
    return this.#closed ? undefined : this.#machine?.pass(applied)
  }

  /** False if there is no room: ask again. */
  askIndex(token: number): boolean {
    if (this.#closed || !this.#toAgent.push(Demand.AskIndex, new Uint8Array(Float64Array.of(token).buffer)))
      return false
    this.#ring()
    return true
  }

  /** It is seen within a tick, since no one waits for it. One that finds no room is left out. */
  checked(number: number, hash: number): void {
    if (!this.#closed) this.#toAgent.push(Demand.Checked, new Uint8Array(Float64Array.of(number, hash).buffer))
  }

  found(configuration: Configuration): void {
    this.#command('found', configuration)
  }

  restarted(id: number): void {
    this.#command('restarted', id)
  }

  meet(met: MetReplica): void {
    this.#command('meet', met)
  }

  hear(card: ReplicaCard): void {
    this.#command('hear', card)
  }

  ended(id: number): void {
    this.#command('ended', id)
  }

  /** See `Replica.addToSnapshot`. The memory of `part` is the agent's from now on. */
  async addToSnapshot(part: Uint8Array<ArrayBuffer>, index: number, isFirst: boolean): Promise<void> {
    await this.#agent!.command('addToSnapshot', { part, index, isFirst }, [part.buffer])
  }

  /** See `Replica.offerSnapshot`. */
  async offerSnapshot(index: number, first: Uint8Array): Promise<boolean> {
    return (await this.#agent!.command('offerSnapshot', { index, first })) as boolean
  }

  async transfer(id: number): Promise<boolean> {
    return (await this.#agent!.command('transfer', id)) as boolean
  }

  /**
   * Vote no more. It resolves when that is decided, or after a while; false: it was not. `isPatient`: only once another
   * votes instead.
   */
  async leave(timeoutMs: number, isPatient: boolean = false): Promise<boolean> {
    if (this.#closed) return true
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false)
    })
    const left = this.#agent?.command('leave', isPatient).then(() => true) ?? true
    return await Promise.race([left, late]).finally(() => clearTimeout(timer))
  }

  /** Do not leave after all, or vote again. */
  stay(): void {
    this.#command('stay', undefined)
  }

  async status(): Promise<ReplicaStatus> {
    return (await this.#agent!.command('status', undefined)) as ReplicaStatus
  }

  /** Where the memory of the replica lies; undefined on devices that do not share it. */
  async sight(id: number): Promise<ReplicaSight | undefined> {
    const descriptor = (await this.#agent!.command('memory', undefined)) as number | undefined
    return descriptor === undefined ? undefined : { id, ...ownLife(), descriptor }
  }

  /** Take what has come, now. */
  look(): boolean {
    if (this.#closed) return false
    let left = RECORDS_PER_TURN
    return this.#toProgram.drain((kind, bytes) => {
      if (left === 0) {
        this.#schedule()
        return false
      }
      left -= 1
      return this.#onNews(kind, bytes)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#agent?.close()
    this.#release()
  }

  #release(): void {
    this.#closed = true
    this.#watcher.close()
    for (const end of this.#bell) native.closeDescriptor(end)
    clearInterval(this.#alive)
  }

  #command(name: string, payload: unknown): void {
    // It has ended, and nothing depends on it any more.
    if (!this.#closed) this.#agent?.command(name, payload).catch(() => {})
  }

  /** A local agent may answer before its caller has done what it does after asking. */
  #turnedSoon(): void {
    if (this.#takesSoon) return
    this.#takesSoon = true
    soon(() => {
      this.#takesSoon = false
      this.#turned()
    })
  }

  /** A local agent has had its turns. */
  #turned(): void {
    if (this.#closed) return
    this.#flush()
    this.look()
    // What a restore is waited for, or found no room, comes later.
    if (this.#unsent.length > 0 || !this.#toProgram.isEmpty) this.#schedule()
  }

  #ring(): void {
    if (this.#toAgent.mustWake() || this.#isLocal) this.#agent!.ring()
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#turn()
    })
  }

  #turn(): void {
    if (this.#closed) return
    if (this.#isLocal) {
      this.#turned()
      return
    }
    this.#flush()
    const any = this.look()
    if (this.#closed || this.#scheduled) return
    if (any) {
      const now = performance.now()
      if (this.#budget.isLooking) this.#budget.found(now)
      this.#spinsUntilMs = now + this.#spinMs
      if (this.#expected > 0) this.#schedule()
      else this.#sleep()
    } else if (this.#unsent.length > 0 || (this.#expected > 0 && this.#looksOn(performance.now()))) this.#schedule()
    else this.#sleep()
  }

  #looksOn(nowMs: number): boolean {
    if (nowMs < this.#spinsUntilMs) return true
    return this.#budget.looksOn(nowMs)
  }

  #sleep(): void {
    if (!this.#toProgram.sleep()) this.#schedule()
    else if (this.#asleepMs < 0) this.#asleepMs = performance.now()
  }

  #flush(): void {
    let sent = 0
    while (sent < this.#unsent.length && this.#toAgent.push(Demand.Propose, this.#unsent[sent]!)) sent += 1
    if (sent === 0) return
    this.#unsent.splice(0, sent)
    this.#ring()
  }
}

function withoutBytes({ snapshot, ...recovered }: Recovered): Recovered {
  return { ...recovered, snapshot: snapshot && { head: snapshot.head, bytes: new Uint8Array() } }
}

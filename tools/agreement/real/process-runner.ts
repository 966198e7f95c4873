import { randomInt } from 'node:crypto'
import type { Algorithm } from '../model/algorithm.ts'
import type { MemoryOperation } from '../model/memory.ts'
import type { AgreementEvent, Data, Process, Register } from '../model/process.ts'
import type { WorldEvent } from '../play/world.ts'
import { PrivateKey, PublicKeys } from './identity.ts'
import { createLiar } from './lies.ts'
import { MemoryClient } from './memory-client.ts'
import { type LaidRegion, memoryLayout } from './memory-layout.ts'
import { PeerLinks, type PeerNote } from './peer-links.ts'
import type { Place } from './place.ts'
import { type MemberTells, machineNow, type ProcessPlan } from './plan.ts'
import { type Doing, RealActs } from './real-acts.ts'
import { Suspicions } from './suspicions.ts'

/** One run of the algorithm, with registers of its own. */
interface Round {
  readonly number: number
  readonly process: Process
  readonly acts: RealActs
  readonly begunAt: number
}

/** A process of an algorithm that runs for real: what it does in a step is done to memories and other processes. */
export class ProcessRunner implements Disposable {
  readonly #plan: ProcessPlan
  readonly #algorithm: Algorithm
  readonly #tell: (tells: MemberTells) => void
  readonly #key: PrivateKey
  readonly #keys: PublicKeys
  readonly #peers: PeerLinks
  readonly #suspicions: Suspicions
  readonly #rounds = new Map<number, Round>()
  /** Messages for rounds that others have begun before. */
  #early: { readonly from: number; readonly note: PeerNote }[] = []
  #memories: readonly MemoryClient[] = []
  /** By memory. */
  #layouts: readonly ReadonlyMap<string, LaidRegion>[] = []
  /** The one that was begun last; none yet is -1. */
  #number = -1
  #startedAt = 0
  #events: WorldEvent[] = []

  constructor(plan: ProcessPlan, algorithm: Algorithm, tell: (tells: MemberTells) => void) {
    this.#plan = plan
    this.#algorithm = algorithm
    this.#tell = tell
    this.#key = new PrivateKey(plan.privateKey)
    this.#keys = new PublicKeys(plan.publicKeys)
    const { setting, process, delayMs } = plan
    this.#peers = new PeerLinks(process, setting.processes, this.#key, this.#keys, {
      receive: (from, note) => this.#receive(from, note),
      lost: (other) => this.#suspicions.gone(other),
    })
    this.#suspicions = new Suspicions(setting.processes, delayMs, (leader) => this.#lead(leader))
  }

  listen(): Promise<number> {
    return this.#peers.listen(this.#plan)
  }

  async connect(processes: readonly Place[], memories: readonly Place[]): Promise<void> {
    const { setting, rounds, process } = this.#plan
    this.#layouts = memories.map((_, memory) => memoryLayout(this.#algorithm, setting, memory, rounds))
    this.#memories = memories.map(
      (place, memory) => new MemoryClient(memory, place, this.#layouts[memory]!, { process, key: this.#key }),
    )
    await Promise.all([this.#peers.connect(processes), ...this.#memories.map((memory) => memory.connect())])
  }

  /** Begins a round, and ends the one before: all have decided there. */
  begin(number: number, startedAt: number): void {
    this.#startedAt = startedAt
    this.#number = number
    this.#rounds.clear()
    this.#suspicions.start()
    this.#beginRound(number)
  }

  [Symbol.dispose](): void {
    this.#suspicions.stop()
    this.#peers[Symbol.dispose]()
    for (const memory of this.#memories) memory[Symbol.dispose]()
  }

  #beginRound(number: number): void {
    const { process: me, setting, lie, input } = this.#plan
    const process =
      lie === undefined ? this.#algorithm.create(me, setting) : createLiar(lie, this.#algorithm, me, setting)
    const doing = this.#doing(number)
    const round: Round = { number, process, acts: new RealActs(doing), begunAt: machineNow() }
    this.#rounds.set(number, round)
    this.#step(round, { type: 'begin', input })
    if (this.#suspicions.leader !== 0) this.#step(round, { type: 'leader', leader: this.#suspicions.leader })
    const early = this.#early
    this.#early = []
    for (const { from, note } of early) this.#receive(from, note)
  }

  #step(round: Round, event: AgreementEvent): void {
    round.process.step(event, round.acts)
  }

  #lead(leader: number): void {
    this.#watch({ type: 'lead', process: this.#plan.process, leader, at: this.#now() })
    for (const round of this.#rounds.values()) this.#step(round, { type: 'leader', leader })
  }

  #send(to: number, note: PeerNote): void {
    const { process: me } = this.#plan
    if (to !== me) this.#peers.send(to, note)
    // Some algorithms tell all, themselves included. Not in the same step.
    else setImmediate(() => this.#receive(me, note))
  }

  #receive(from: number, note: PeerNote): void {
    const round = this.#rounds.get(note.round)
    if (round === undefined) {
      // What is said about a round that is over is of no use, nor is what a liar says about one that never comes.
      if (note.round > this.#number && note.round < this.#plan.rounds) this.#early.push({ from, note })
      return
    }
    const { message, sentAt } = note
    this.#watch({ type: 'message', from, to: this.#plan.process, message, sentAt, at: this.#now() })
    this.#step(round, { type: 'message', from, message })
  }

  /** In ms from the beginning. */
  #now(): number {
    return machineNow() - this.#startedAt
  }

  #doing(number: number): Doing {
    const { process: me, delayMs } = this.#plan
    return {
      now: () => this.#now() / delayMs,
      send: (to, message: Data) => this.#send(to, { round: number, sentAt: this.#now(), message }),
      operate: (memory, operation, tag) => this.#operate(number, memory, operation, tag),
      wake: (delays, tag) => {
        setTimeout(() => {
          const round = this.#rounds.get(number)
          if (round !== undefined) this.#step(round, { type: 'timer', tag })
        }, delays * delayMs)
      },
      flip: () => randomInt(2) === 1,
      // What was signed in one round means nothing in another.
      sign: (text) => this.#key.sign(`round ${number}: ${text}`),
      verify: (process, text, signature) => this.#keys.verify(process, `round ${number}: ${text}`, signature),
      decide: (value) => this.#decide(number, value),
      elect: (leader) => {
        this.#watch({ type: 'lead', process: me, leader, at: this.#now() })
        this.#tell({ tell: 'elected', leader })
      },
    }
  }

  #operate(number: number, memory: number, operation: MemoryOperation, tag: string): void {
    const sentAt = this.#now()
    this.#memories[memory]?.begin(this.#inRound(number, memory, operation), ({ ok, values }) => {
      const at = this.#now()
      const { process } = this.#plan
      const executedAt = (sentAt + at) / 2
      this.#watch({ type: 'operation', process, memory, operation, ok, sentAt, at: executedAt })
      this.#watch({ type: 'answer', process, memory, sentAt: executedAt, at })
      const round = this.#rounds.get(number)
      if (round !== undefined) this.#step(round, { type: 'answer', memory, tag, ok, values })
    })
  }

  /** The same on the registers of that round. */
  #inRound(number: number, memory: number, operation: MemoryOperation): MemoryOperation {
    if (number === 0 || operation.do === 'permit') return operation
    const regions = this.#layouts[memory]!
    const moved = ({ region, index }: Register): Register => ({
      region,
      index: index + number * (regions.get(region)?.registers ?? 0),
    })
    return operation.do === 'read'
      ? { ...operation, registers: operation.registers.map(moved) }
      : { ...operation, register: moved(operation.register) }
  }

  #decide(number: number, value: string): void {
    const round = this.#rounds.get(number)
    const at = this.#now()
    this.#watch({ type: 'decide', process: this.#plan.process, value, at })
    if (round === undefined) return
    const tookMs = machineNow() - round.begunAt
    this.#flush()
    this.#tell({ tell: 'decided', round: number, value, tookMs, costs: { ...round.acts.costs } })
  }

  #watch(event: WorldEvent): void {
    if (!this.#plan.watched) return
    if (this.#events.length === 0) setImmediate(() => this.#flush())
    this.#events.push(event)
  }

  #flush(): void {
    if (this.#events.length > 0) this.#tell({ tell: 'events', events: this.#events })
    this.#events = []
  }
}

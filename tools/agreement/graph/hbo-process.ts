import type { Acts, AgreementEvent, Process } from '../model/process.ts'
import { type HboReport, hboDataOf, hboMessageOf, NO_VALUE, phaseOf, roundOf } from './hbo-values.ts'
import { Tally } from './tally.ts'

export interface HboOptions {
  readonly me: number
  readonly processes: number
  readonly neighbours: readonly number[]
  /** How many rounds the memories have registers for. */
  readonly rounds: number
  /** How many represented processes are enough, where that is not to be a majority. */
  readonly quorum?: number
}

/** HBO has no registers left for another round. */
export class RoundsExhaustedError extends Error {
  readonly process: number
  readonly rounds: number

  constructor(process: number, rounds: number) {
    super(`process ${process} has not decided in ${rounds} rounds: give hboOf() more rounds`)
    this.name = 'RoundsExhaustedError'
    this.process = process
    this.rounds = rounds
  }
}

/** The region of a process's consensus objects for one phase, in its own memory. */
export const objectsOf = (phase: string, process: number): string => `${phase}s/${process}`

/**
 * A process of HBO (PODC'18, section 4). It goes through stages, two for each round:
 *
 * 1. It proposes its value to the consensus objects of itself and of its neighbours.
 * 2. It sends to all what these objects have decided: the values of the processes that it represents.
 * 3. It goes on once it has heard the values of more than half of the processes.
 *
 * A crashed process is heard of as long as a neighbour is correct. All that speak for it say the same, because its
 * value comes from a consensus object.
 */
export class HboProcess implements Process {
  stage = 0
  /** x in the paper in a report, and what is proposed in a proposal. */
  value = ''
  /** Values of the objects that have answered in this stage. */
  own: (readonly [process: number, value: string])[] = []
  /** What has been heard, by stage. Stages that are over are forgotten. */
  heard: Record<number, Tally> = {}
  /** The value that this process has decided. */
  decided: string | null = null
  readonly me: number
  readonly processes: number
  readonly rounds: number
  readonly quorum: number
  /** Itself and its neighbours: it may access their objects. */
  readonly represents: readonly number[]

  constructor({ me, processes, neighbours, rounds, quorum = Math.floor(processes / 2) + 1 }: HboOptions) {
    this.me = me
    this.processes = processes
    this.rounds = rounds
    this.quorum = quorum
    this.represents = [me, ...neighbours]
  }

  /** True while objects have not answered. */
  get isClaiming(): boolean {
    return this.own.length < this.represents.length
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (this.decided !== null) return
    if (event.type === 'begin') {
      this.value = event.input
      this.propose(acts)
    } else if (event.type === 'answer') {
      this.learn(event.memory, event.tag, event.values[0] as string | null, acts)
    } else if (event.type === 'message') {
      const message = hboMessageOf(event.message)
      if ('decided' in message) this.finish(message.decided, acts)
      else this.hear(message, acts)
    }
  }

  /** Proposes the value to the objects of this stage. */
  propose(acts: Acts): void {
    const round = roundOf(this.stage)
    if (round > this.rounds) throw new RoundsExhaustedError(this.me, this.rounds)
    this.own = []
    for (const process of this.represents)
      acts.claim(
        process,
        { region: objectsOf(phaseOf(this.stage), process), index: round - 1 },
        this.value,
        `${this.stage}`,
      )
  }

  /** An object has answered with the value before the claim; where there was none, it has taken this one. */
  learn(process: number, tag: string, before: string | null, acts: Acts): void {
    if (tag !== `${this.stage}` || !this.isClaiming) return
    this.own = [...this.own, [process, before ?? this.value] as const].sort(([one], [other]) => one - other)
    if (this.isClaiming) return
    const message = hboDataOf({ stage: this.stage, values: this.own })
    for (let to = 0; to < this.processes; to += 1) acts.send(to, message)
    this.goOn(acts)
  }

  hear({ stage, values }: HboReport, acts: Acts): void {
    if (stage < this.stage) return
    this.tallyOf(stage).add(values)
    this.goOn(acts)
  }

  /** Ends the stage once this process has said what it represents, and heard of more than half of the processes. */
  goOn(acts: Acts): void {
    if (this.isClaiming) return
    const tally = this.tallyOf(this.stage)
    if (!this.hasHeardEnough(tally)) return
    if (phaseOf(this.stage) === 'report') this.value = this.proposalOf(tally)
    else if (this.endRound(tally, acts)) return
    delete this.heard[this.stage]
    this.stage += 1
    this.propose(acts)
  }

  /** What to propose after these reports: a value that more than half of the processes have, or none. */
  proposalOf(reports: Tally): string {
    return ['0', '1'].find((value) => this.isQuorum(reports.count(value))) ?? NO_VALUE
  }

  /** Decides, or chooses the value for the next round. True if it has decided. */
  endRound(proposals: Tally, acts: Acts): boolean {
    const seen = ['0', '1'].find((value) => proposals.count(value) > 0)
    if (seen !== undefined && this.isQuorum(proposals.count(seen))) {
      this.finish(seen, acts)
      return true
    }
    this.value = seen ?? (acts.flip() ? '1' : '0')
    return false
  }

  hasHeardEnough(tally: Tally): boolean {
    return this.isQuorum(tally.represented)
  }

  isQuorum(count: number): boolean {
    return count >= this.quorum
  }

  /**
   * Decides, tells all, and stops. One that learns it from a message tells all as well. The first to decide may crash
   * before it has told everyone; the others would then wait for those that it has told.
   */
  finish(value: string, acts: Acts): void {
    this.decided = value
    this.heard = {}
    acts.decide(value)
    for (let to = 0; to < this.processes; to += 1) if (to !== this.me) acts.send(to, hboDataOf({ decided: value }))
  }

  tallyOf(stage: number): Tally {
    this.heard[stage] ??= new Tally(this.processes)
    return this.heard[stage]
  }
}

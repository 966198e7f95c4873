import type { Acts, AgreementEvent, Data, Process } from '../model/process.ts'
import type { Acceptor } from './acceptor.ts'
import type { Agent } from './agent.ts'
import { BallotProposer } from './proposer.ts'

/** How long a proposer waits after a refusal before it tries again, in delays, times the ballots that it has begun. */
const PATIENCE = 4
const AGAIN = 'again'

export interface PaxosOptions {
  readonly me: number
  readonly processes: number
  readonly agents: readonly Agent[]
  readonly quorum: number
  /** Where the process remembers for others, too. */
  readonly acceptor?: Acceptor
}

/**
 * A process that proposes while it is taken for the leader, until someone has decided. Process 0 is the first leader,
 * and begins with the second phase.
 */
export class PaxosProcess implements Process {
  leads: boolean
  waits = false
  decided: string | null = null
  proposer: BallotProposer | null = null
  readonly acceptor: Acceptor | null
  readonly me: number
  readonly processes: number
  readonly quorum: number
  readonly agents: readonly Agent[]

  constructor({ me, processes, agents, quorum, acceptor }: PaxosOptions) {
    this.me = me
    this.processes = processes
    this.agents = agents
    this.quorum = quorum
    this.acceptor = acceptor ?? null
    this.leads = me === 0
  }

  step(event: AgreementEvent, acts: Acts): void {
    switch (event.type) {
      case 'begin': {
        this.proposer = new BallotProposer(this.me, this.processes, this.agents, this.quorum, event.input)
        if (this.leads) this.finish(this.proposer.start(acts, this.me !== 0), acts)
        return
      }
      case 'leader':
        this.leads = event.leader === this.me
        // The first that decided may have crashed before it told everyone.
        if (this.leads && this.decided !== null) this.tell(this.decided, acts)
        if (this.leads && !this.waits) this.propose(acts)
        return
      case 'timer':
        if (event.tag !== AGAIN) return
        this.waits = false
        if (this.leads) this.propose(acts)
        return
      case 'message': {
        const decided = decisionOf(event.message)
        if (decided !== undefined) {
          this.learn(decided, acts)
          if (this.leads) this.tell(decided, acts)
          return
        }
        if (this.acceptor?.hear(event.from, event.message, acts)) return
        this.hear(event, acts)
        return
      }
      case 'answer':
        this.hear(event, acts)
    }
  }

  private hear(event: AgreementEvent, acts: Acts): void {
    if (this.proposer === null || this.decided !== null) return
    const wasBusy = this.proposer.phase !== 'idle'
    this.finish(this.proposer.hear(event, acts), acts)
    if (wasBusy && this.proposer.phase === 'idle' && this.decided === null) this.wait(this.proposer.ballot, acts)
  }

  private propose(acts: Acts): void {
    if (this.proposer === null || this.decided !== null || this.proposer.phase !== 'idle') return
    this.finish(this.proposer.start(acts, true), acts)
    if (this.decided === null && this.proposer.phase === 'idle') this.wait(this.proposer.ballot, acts)
  }

  private wait(ballot: number, acts: Acts): void {
    if (this.waits) return
    this.waits = true
    acts.wake(PATIENCE * Math.ceil(ballot / this.processes), AGAIN)
  }

  private finish(value: string | undefined, acts: Acts): void {
    if (value === undefined || this.decided !== null) return
    this.learn(value, acts)
    this.tell(value, acts)
  }

  private tell(value: string, acts: Acts): void {
    for (let process = 0; process < this.processes; process += 1)
      if (process !== this.me) acts.send(process, { decided: value })
  }

  private learn(value: string, acts: Acts): void {
    if (this.decided !== null) return
    this.decided = value
    acts.decide(value)
  }
}

function decisionOf(message: Data): string | undefined {
  const { decided } = message as { readonly decided?: string }
  return decided
}

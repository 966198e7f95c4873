import type { Acts, AgreementEvent } from '../model/process.ts'
import type { Accepted, Agent, AgentReply } from './agent.ts'

/**
 * The proposer of Paxos: two phases, each at a majority of agents (Lamport, *The Part-Time Parliament*, TOCS 1998).
 * What the agents are makes the algorithm: memories with permissions, disks, processes, or all of them together.
 */
export class BallotProposer {
  phase: 'idle' | 'prepare' | 'accept' = 'idle'
  ballot = 0
  /** The highest ballot that was heard of. */
  highest = 0
  input: string
  value = ''
  /** By agent: it has answered in this phase. */
  answered: boolean[] = []
  best: Accepted | null = null
  readonly me: number
  readonly processes: number
  readonly quorum: number
  readonly agents: readonly Agent[]

  constructor(me: number, processes: number, agents: readonly Agent[], quorum: number, input: string) {
    this.me = me
    this.processes = processes
    this.agents = agents
    this.quorum = quorum
    this.input = input
  }

  /**
   * Begins a ballot of its own that is higher than all it has heard of. Without `prepare`, the first phase is left out:
   * that is sound for the lowest ballot of all, before which nothing can have been accepted.
   */
  start(acts: Acts, prepare: boolean): string | undefined {
    const round = Math.floor(Math.max(this.highest, this.ballot) / this.processes) + (prepare ? 1 : 0)
    this.ballot = round * this.processes + this.me + 1
    if (!prepare) return this.accept(acts, this.input)
    this.phase = 'prepare'
    this.best = null
    this.answered = this.agents.map(() => false)
    return this.hearAll(acts, (agent) => agent.prepare(this.ballot, acts))
  }

  /** Returns the value once it is decided. */
  hear(event: AgreementEvent, acts: Acts): string | undefined {
    return this.hearAll(acts, (agent) => agent.hear(event, acts))
  }

  private accept(acts: Acts, value: string): string | undefined {
    this.phase = 'accept'
    this.value = value
    this.answered = this.agents.map(() => false)
    return this.hearAll(acts, (agent) => agent.accept(this.ballot, value, acts))
  }

  private hearAll(acts: Acts, ask: (agent: Agent) => AgentReply | undefined): string | undefined {
    const { phase, ballot } = this
    let decided: string | undefined
    for (const [index, agent] of this.agents.entries()) {
      // The phase may have ended by the reply of an agent before.
      if (this.phase !== phase || this.ballot !== ballot) break
      const reply = ask(agent)
      if (reply !== undefined) decided = this.take(index, reply, acts)
    }
    return decided
  }

  private take(index: number, reply: AgentReply, acts: Acts): string | undefined {
    if (this.phase === 'idle') return undefined
    if (!reply.ok) {
      this.highest = Math.max(this.highest, reply.ballot)
      this.phase = 'idle'
      return undefined
    }
    this.answered[index] = true
    const { accepted } = reply
    if (accepted !== null && accepted.ballot > (this.best?.ballot ?? 0)) this.best = accepted
    if (this.answered.filter((each) => each).length < this.quorum) return undefined
    if (this.phase === 'prepare') return this.accept(acts, this.best?.value ?? this.input)
    this.phase = 'idle'
    return this.value
  }
}

import type { RegionRule } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data } from '../model/process.ts'
import type { Accepted, Agent, AgentReply } from './agent.ts'
import { promiseOf, slotOf } from './protected-memory.ts'

const blockOf = (process: number): string => `block/${process}`

/** A block for each process, which only that process ever writes. */
export function diskBlocks(processes: number): RegionRule[] {
  return Array.from({ length: processes }, (_, process) => ({
    name: blockOf(process),
    registers: 1,
    writers: [process],
    changes: 'none',
  }))
}

/**
 * A memory without permissions that change, as an agent (Gafni and Lamport, *Disk Paxos*, Distributed Computing 2003).
 * In both phases a process writes its block and then reads those of the others: nothing else would tell it of a higher
 * ballot. That costs four delays where {@link ProtectedMemory} takes two.
 */
export class Disk implements Agent {
  stage: 'idle' | 'write' | 'read' = 'idle'
  ballot = 0
  /** What stands in its block from now on, whatever becomes of the ballot. */
  accepted: Accepted | null = null
  readonly me: number
  readonly memory: number
  readonly processes: number

  constructor(me: number, memory: number, processes: number) {
    this.me = me
    this.memory = memory
    this.processes = processes
  }

  prepare(ballot: number, acts: Acts): undefined {
    this.begin(ballot, acts)
  }

  accept(ballot: number, value: string, acts: Acts): undefined {
    this.accepted = { ballot, value }
    this.begin(ballot, acts)
  }

  hear(event: AgreementEvent, acts: Acts): AgentReply | undefined {
    if (event.type !== 'answer' || event.memory !== this.memory || event.tag !== this.tag) return undefined
    if (this.stage === 'write') {
      this.stage = 'read'
      const registers = Array.from({ length: this.processes }, (_, process) => ({ region: blockOf(process), index: 0 }))
      acts.read(this.memory, registers, this.tag)
      return undefined
    }
    this.stage = 'idle'
    return promiseOf(event.values.map(slotOf), this.ballot)
  }

  private get tag(): string {
    return `${this.stage} ${this.ballot}${this.accepted?.ballot === this.ballot ? ' accept' : ''}`
  }

  private begin(ballot: number, acts: Acts): void {
    this.ballot = ballot
    this.stage = 'write'
    const block = { begun: ballot, accepted: this.accepted }
    acts.write(this.memory, { region: blockOf(this.me), index: 0 }, block as unknown as Data, this.tag)
  }
}

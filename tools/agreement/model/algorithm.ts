import type { RegionRule } from './memory.ts'
import type { Process } from './process.ts'

/** How an algorithm is set up. Processes and memories are counted from 0. */
export interface Setting {
  readonly processes: number
  readonly memories: number
  /** For the algorithms on a graph: the neighbours of each process, with which it shares memory. */
  readonly neighbours?: readonly (readonly number[])[]
  /**
   * How many agents make a quorum, where that is not to be a majority. It shows what goes wrong on the other side of
   * the bound. Where processes lie, only processes are counted.
   */
  readonly quorum?: number
  /** The same for memories, where processes lie. */
  readonly memoryQuorum?: number
}

/** More than half of as many. */
export const majorityOf = (agents: number): number => Math.floor(agents / 2) + 1

/**
 * What the common case costs with three processes and three memories: no failure, no suspicion, every message and
 * operation timely. For algorithms that look again and again, it depends on how often they look.
 */
interface CommonCase {
  /** Until the first process decides. */
  readonly delays: number
  /** Until the first process decides, by all processes together. */
  readonly signatures: number
}

/** How many may fail, of each. */
export interface Faults {
  readonly processes: number
  readonly memories: number
  /** Of both, where they are counted together. */
  readonly together?: number
}

/** An algorithm: how its regions are laid out, and its processes. */
export interface Algorithm {
  /** As the command has it, as `disk-paxos`. */
  readonly name: string
  readonly title: string
  /** Paper and section. */
  readonly source: string
  /** How processes fail. */
  readonly failures: 'crash' | 'byzantine'
  /** What it is for: agreement on one value, delivery of one, or a leader. */
  readonly task: 'consensus' | 'broadcast' | 'election'
  /**
   * True in the m&m model (PODC'18): each process has a memory, which it shares with its neighbours in a graph. No one
   * has to tell these algorithms who leads.
   */
  readonly onGraph?: true
  /** How much it withstands, in words. */
  readonly resilience: string
  /** The most faults that it withstands in that setting. */
  bound(setting: Setting): Faults
  readonly commonCase: CommonCase
  /** What is wrong with a setting; undefined if nothing is. */
  refuse(setting: Setting): string | undefined
  regions(setting: Setting): readonly RegionRule[]
  create(me: number, setting: Setting): Process
  /** Processes that do what would harm this algorithm most, by name, for plays. */
  readonly traitors?: Readonly<Record<string, (me: number, setting: Setting) => Process>>
}

import type { CoherenceKind } from 'aether-dsm/internal/dsm'
import type { Demand } from './model.ts'

/**
 * How a program reaches the memory: `Atomics` on a view, plain elements of a view, `swapSync`/`fetchAddSync`
 * (`atomic-calls`), or `writeSync`/`readSync` (`copies`).
 */
export type Access = 'atomics' | 'plain' | 'atomic-calls' | 'copies'
export const accesses: readonly Access[] = ['atomics', 'plain', 'atomic-calls', 'copies']

type LitmusCoherence = CoherenceKind

/** Where a shape is played. */
export interface Axis {
  readonly coherence: LitmusCoherence
  /** Processes in the group; those that the shape has no part for are homes and disturb. */
  readonly ranks: number
  /** Whether the locations of a round lie in one page. */
  readonly pages: 'same' | 'different'
  /** Whether their pages have one home. Which rank that is changes from batch to batch. */
  readonly homes: 'same' | 'different'
  readonly access: Access
  /**
   * Whether there is so little room for copies that pages are evicted between and during rounds. Never with `hardware`,
   * which has no copies.
   */
  readonly evictions: boolean
}

/** A shape on an axis, and how often to run it. */
export interface Run {
  readonly shape: string
  readonly axis: Axis
  readonly rounds: number
}

/** What the processes of one group are started with. */
export interface RankPlan {
  readonly runs: readonly Run[]
  readonly pageSize: number
  readonly seed: number
  /** Module that exports `openMemory`, in place of regions: for memories that are wrong on purpose. */
  readonly memoryUrl: string
}

/** What rank 0 says after each run, as a line of JSON. */
export interface RankReport {
  readonly run: number
  readonly seconds: number
  /** Outcome and how often. */
  readonly counts: readonly (readonly [number, number])[]
  /** How many copies were given up for want of room meanwhile. */
  readonly evicted: number
  /** Why it could not be played. */
  readonly skipped?: string
}

/**
 * What is demanded of this memory. Plain elements, and copies on `hardware` memory, are the CPU's own loads and stores,
 * which the engine may merge or move. Only the order of each location is demanded of them. With a protocol, a copy is
 * made while its page is pinned, between sequentially consistent operations.
 */
export function demandOf({ access, coherence }: Pick<Axis, 'access' | 'coherence'>): Demand {
  if (access === 'plain') return 'coherence'
  return access === 'copies' && coherence === 'hardware' ? 'coherence' : 'sequential'
}

/** The axes that make a difference to a shape with these numbers of processes and locations. */
export function axesOf(shape: { processes: number; locations: number }, wanted: readonly Axis[]): Axis[] {
  return wanted.filter(({ ranks, pages, homes, coherence }) => {
    if (ranks < shape.processes) return false
    if (shape.locations === 1 && pages === 'different') return false
    return homes === 'same' || (pages === 'different' && coherence !== 'hardware')
  })
}

import type { Random } from 'aether-dsm/internal/runtime'
import type { Regroup } from './regroup.ts'

/**
 * Which structures to torture. `machine`: those of a space, which processes of one machine share. `group`: those of a
 * group, whose ranks reach their home's memory by verbs. `homes`: those of a group with two homes, one of which is
 * killed. `directory`: those of a space that is a file, all of whose processes are killed at once.
 */
export type StructurePlace = 'machine' | 'directory' | 'group' | 'homes'
export const structurePlaces: readonly StructurePlace[] = ['machine', 'directory', 'group', 'homes']

/** What a process of a torture of structures is started with, as JSON. */
export interface StructurePlan {
  readonly place: StructurePlace
  /** Names of the structures. */
  readonly structures: readonly string[]
  /** The judge makes the structures and looks at them in the end; it is not killed. */
  readonly role: 'judge' | 'worker'
  readonly seat: number
  readonly incarnation: number
  readonly seed: number
  readonly leaseMs: number
  /** Memory for all structures, in bytes. */
  readonly sizeBytes: number
  /** Where a process writes what it finds wrong. */
  readonly notes: string
  /** Where spaces are files, if they are. */
  readonly directory: string | undefined
}

/** How a process of the round ended. */
export interface StructureFate {
  readonly incarnation: number
  readonly seat: number
  /** Milliseconds of the clock that all processes share; null where it was not killed. */
  readonly killedMs: number | null
}

/** What a process is told. `progress` and `judge` are for the judge; who leaves a group may be told to make another. */
export type StructureOrder =
  | { readonly type: 'stop' }
  | { readonly type: 'leave'; readonly regroup?: Regroup }
  | { readonly type: 'progress'; readonly processes: number }
  | { readonly type: 'judge'; readonly fates: readonly StructureFate[] }

/** How far each process has come. */
export interface StructureProgress {
  readonly incarnation: number
  readonly steps: number
  readonly structure: string
}

/** What came of one structure in a round. */
export interface StructureVerdict {
  readonly structure: string
  /** Operations that were acknowledged. */
  readonly operations: number
  /** Those that were refused for want of memory. */
  readonly refused: number
  /** Processes that were killed in the middle of an operation on it. */
  readonly cutShort: number
  /** Versions that were seen, by age; empty where they have none. */
  readonly ages: readonly number[]
  readonly wrong: readonly string[]
}

/** Memory in use after everything was taken out. */
export interface StructureMemory {
  readonly usedBytes: number
  /** The same in a space without kills. */
  readonly freshBytes: number
}

export type StructureReply =
  | { readonly type: 'ready' }
  | { readonly type: 'done' }
  | { readonly type: 'regrouped'; readonly found: readonly number[] }
  | { readonly type: 'progress'; readonly progress: readonly StructureProgress[] }
  | {
      readonly type: 'verdict'
      readonly verdicts: readonly StructureVerdict[]
      readonly memory: StructureMemory | null
    }

/** About so long: half as much to one and a half times as much. */
export function about(milliseconds: number, random: Random): number {
  return milliseconds / 2 + random.below(Math.max(1, milliseconds))
}

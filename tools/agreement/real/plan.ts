import type { Setting } from '../model/algorithm.ts'
import type { Costs, WorldEvent } from '../play/world.ts'
import type { Place } from './place.ts'

interface SharedPlan {
  /** Its name. */
  readonly algorithm: string
  readonly setting: Setting
  readonly rounds: number
  readonly device: string
  readonly address: string
  readonly publicKeys: readonly string[]
}

export interface MemoryPlan extends SharedPlan {
  readonly role: 'memory'
  readonly memory: number
}

export interface ProcessPlan extends SharedPlan {
  readonly role: 'process'
  readonly process: number
  readonly privateKey: string
  readonly input: string
  /** How long a delay of the model takes, for the timers of the algorithm. */
  readonly delayMs: number
  /** What it does instead of keeping to the algorithm, as {@link lies} names it. */
  readonly lie: string | undefined
  /** Whether to tell what happens. */
  readonly watched: boolean
}

export type MemberPlan = MemoryPlan | ProcessPlan

/** What a member is told. */
export type MemberTask =
  | { readonly do: 'connect'; readonly processes: readonly Place[]; readonly memories: readonly Place[] }
  /** `startedAt`: the beginning of time, by the monotonic clock of the machine in ms. */
  | { readonly do: 'begin'; readonly round: number; readonly startedAt: number }

/** What a member tells. Times are in ms from the beginning. */
export type MemberTells =
  | { readonly tell: 'listening'; readonly port: number }
  | { readonly tell: 'connected' }
  | { readonly tell: 'events'; readonly events: readonly WorldEvent[] }
  | {
      readonly tell: 'decided'
      readonly round: number
      readonly value: string
      readonly tookMs: number
      readonly costs: Costs
    }
  | { readonly tell: 'elected'; readonly leader: number }
  | { readonly tell: 'failed'; readonly message: string }

/** The monotonic clock that all processes of a machine share, in ms. */
export const machineNow = (): number => Number(process.hrtime.bigint()) / 1e6

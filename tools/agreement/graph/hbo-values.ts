import type { Data } from '../model/process.ts'

/** A value of binary consensus, or a proposal for none. */
export const NO_VALUE = '?'

/** The two phases of a round (PODC'18, section 4: R and P). */
export type HboPhase = 'report' | 'proposal'

/** The phases of all rounds in one count, from 0: even ones are reports, odd ones proposals. */
export const phaseOf = (stage: number): HboPhase => (stage % 2 === 0 ? 'report' : 'proposal')

/** Rounds are counted from 1. */
export const roundOf = (stage: number): number => Math.floor(stage / 2) + 1

/** The values that a process represents in a stage, each with the process that it belongs to. */
export interface HboReport {
  readonly stage: number
  readonly values: readonly (readonly [process: number, value: string])[]
}

/** What processes say to each other. */
export type HboMessage = HboReport | { readonly decided: string }

export const hboMessageOf = (data: Data): HboMessage => data as unknown as HboMessage
export const hboDataOf = (message: HboMessage): Data => message as unknown as Data

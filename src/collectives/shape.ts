import type { PlanCache } from './plan.ts'

/** This rank and the size of the group. */
export interface Shape {
  readonly rank: number
  readonly size: number
  /** All links of the group go through shared memory; every rank then says so. */
  readonly oneMachine: boolean
  readonly plans: PlanCache
}

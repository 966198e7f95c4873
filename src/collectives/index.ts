/**
 * The door of this room for other rooms: what ranks compute together. Each rank works out its part from its rank, the
 * size and the lengths: pure functions. `messaging/` carries them out.
 */

export type { CollectiveName } from './algorithms.ts'
export type { BarrierAlgorithm } from './barrier.ts'
export { barrier, type CollectiveCall } from './calls.ts'
export { type CollectiveOptions, checkCollective } from './collective-options.ts'
export { Collectives } from './collectives.ts'
export type { ElementArray, ElementOf } from './element-kind.ts'
export type { CustomOperation, Kernel, Operation } from './operation.ts'
export { type Plan, PlanCache } from './plan.ts'
export type { RunMemory } from './run-memory.ts'
export type { BufferName, Range } from './schedule.ts'
export type { Shape } from './shape.ts'
export { collectiveNames, countTraffic } from './traffic.ts'

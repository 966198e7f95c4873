/**
 * The door of this room for other rooms: conformance suites and simulated clusters. Users import
 * `src/public/testing.ts`.
 */

export {
  type Choose,
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulatedFault,
  type SimulatedHost,
  type SimulatedProcess,
  type SimulationOptions,
} from '../providers/index.ts'
export type { ConformanceCase } from './conformance/case.ts'
export { conformanceCases } from './conformance/cases/index.ts'
export type { Until } from './conformance/context.ts'
export * from './conformance/run.ts'
export { connectionCases } from './connections/cases/index.ts'
export type { ConnectionSetup } from './connections/context.ts'
export * from './connections/run.ts'

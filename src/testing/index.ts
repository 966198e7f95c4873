/**
 * For tests: the conformance suite that every verbs provider passes, the same for connections, and simulated clusters.
 *
 * ```ts
 * import { formatReport, runProviderConformance } from 'aether-dsm/testing'
 *
 * const report = await runProviderConformance({ provider: 'shm', device: 'shm0', placement: 'two-processes' })
 * console.log(formatReport(report))
 * ```
 */

export {
  type AdapterOptions,
  type Choose,
  type NetworkOptions,
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulatedFault,
  type SimulatedFaultKind,
  type SimulatedHost,
  type SimulatedProcess,
  type SimulationOptions,
} from '../providers/index.ts'
export type { ConformanceCase } from './conformance/case.ts'
export { conformanceCases } from './conformance/cases/index.ts'
export type { Until } from './conformance/context.ts'
export * from './conformance/run.ts'
export { connectionCases } from './connections/cases/index.ts'
export type { ConnectionCase, ConnectionContext, ConnectionSetup } from './connections/context.ts'
export * from './connections/run.ts'

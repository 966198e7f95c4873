/**
 * What tests need, ours and yours: the conformance suite that every verbs provider passes, litmus tests of shared
 * memory, and clusters that are simulated.
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
export * from './linearizability/index.ts'
export * from './litmus/index.ts'
export * from './modelcheck/index.ts'

export * from './protocol-pages/index.ts'

export * from './simulation/index.ts'
export * from './structure-torture/index.ts'
export * from './torture/index.ts'

/**
 * For tests: the conformance suite that every verbs provider passes, the same for connections, and simulated clusters.
 *
 * ```ts
 * import { formatReport, runProviderConformance } from 'aether-dsm/testing'
 *
 * const report = await runProviderConformance({ provider: 'shm', device: 'shm0', placement: 'two-processes' })
 * console.log(formatReport(report))
 * ```
 *
 * @module aether-dsm/testing
 */
export {
  type Choose,
  type ConformanceReport,
  type ConformanceSetup,
  type ConnectionReport,
  type ConnectionSetup,
  formatConnectionReport,
  formatReport,
  openSimulatedCluster,
  runConnectionConformance,
  runProviderConformance,
  type SimulatedCluster,
  type SimulatedFault,
  type SimulatedHost,
  type SimulatedProcess,
  type SimulationOptions,
  type Until,
} from '../testing/index.ts'

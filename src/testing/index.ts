/**
 * What tests need, ours and yours: the conformance suite that every verbs provider passes, and litmus tests of shared memory.
 *
 * ```ts
 * import { formatReport, runProviderConformance } from 'aether-dsm/testing'
 *
 * const report = await runProviderConformance({ provider: 'shm', device: 'shm0', placement: 'two-processes' })
 * console.log(formatReport(report))
 * ```
 */
export type { ConformanceCase } from './conformance/case.ts'
export { conformanceCases } from './conformance/cases/index.ts'
export type { Until } from './conformance/context.ts'
export * from './conformance/run.ts'
export { connectionCases } from './connections/cases/index.ts'
export type { ConnectionCase, ConnectionContext, ConnectionSetup } from './connections/context.ts'
export * from './connections/run.ts'
export * from './litmus/index.ts'
export * from './modelcheck/index.ts'

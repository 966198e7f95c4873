/**
 * Torture: real processes write and read pages of a region, some are killed and some are stopped and continued, and
 * what all of them saw is checked.
 *
 * ```ts
 * import { runTorture } from 'aether-dsm/testing'
 *
 * for (const { coherence, deaths, violations } of await runTorture({ seconds: 20 })) {
 *   console.log(coherence, deaths, violations)
 * }
 * ```
 *
 * The check knows nothing of protocols: pages have versions, and each access says when it began and ended and what it
 * found.
 */
export { checkTortureHistory } from './check-history.ts'
export type { TortureAccess, TortureHistory, TortureOutcome } from './history.ts'
export type { Stamp } from './page-stamp.ts'
export { runTorture, type TortureOptions, type TortureResult } from './run-torture.ts'
export type { OpenTortureMemory } from './torture-memory.ts'
export { type TorturePlace, torturePlaces } from './torture-plan.ts'

/**
 * Torture. Real processes write and read pages of a region. Some are killed, and some are stopped and continued. What
 * all of them saw is checked.
 *
 * ```ts
 * import { runTorture } from 'aether-dsm/testing'
 *
 * for (const { coherence, deaths, violations } of await runTorture({ seconds: 20 })) {
 *   console.log(coherence, deaths, violations)
 * }
 * ```
 *
 * The check does not depend on the protocol. Pages have versions, and each access records when it started and ended and
 * what it found.
 */
export { checkTortureHistory } from './check-history.ts'
export type { TortureAccess, TortureHistory, TortureOutcome } from './history.ts'
export type { Stamp } from './page-stamp.ts'
export { runTorture, type TortureOptions, type TortureResult } from './run-torture.ts'
export type { OpenTortureMemory } from './torture-memory.ts'
export { type TorturePlace, torturePlaces } from './torture-plan.ts'

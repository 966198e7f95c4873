/**
 * Torture of structures: real processes work on every structure, are killed, stopped and replaced, and what they were
 * acknowledged is compared with what is there.
 *
 * ```ts
 * import { runStructureTorture } from 'aether-dsm/testing'
 *
 * for (const { place, kills, structures } of await runStructureTorture({ seconds: 10 }))
 *   for (const { structure, operations, wrong } of structures) console.log(place, kills, structure, operations, wrong)
 * ```
 *
 * What a process does it notes before and after in memory that outlives it, so at a kill at most one operation of each
 * is in doubt.
 */
export {
  type StructurePlace,
  structurePlaces,
} from './plan.ts'
export {
  runStructureTorture,
  type StructureTortureResult,
  tortureStructures,
} from './run-structure-torture.ts'

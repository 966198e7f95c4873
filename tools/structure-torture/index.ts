/**
 * Torture of structures. Real processes use every structure, and are killed, stopped and replaced. What was
 * acknowledged to them is compared with what is there.
 *
 * ```ts
 * import { runStructureTorture } from 'aether-dsm/testing'
 *
 * for (const { place, kills, structures } of await runStructureTorture({ seconds: 10 }))
 *   for (const { structure, operations, wrong } of structures) console.log(place, kills, structure, operations, wrong)
 * ```
 *
 * A process records what it does, before and after, in memory that outlives it. So at a kill, at most one operation of
 * each process is in doubt.
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

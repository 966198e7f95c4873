import { ConsensusError } from '../errors.ts'

/** In force from the founding on. */
export const FIRST_FORMAT = 1

/**
 * Which commands a machine understands, where its releases differ: format 1, 2, 3 … Each release knows all up to one.
 *
 * 1. The log says which format is in force. A command of a later one has the outcome that it has in a release which
 *    does not know it. So replicas of several releases come to the same.
 * 2. The leader raises it once the release of every process there knows a later one.
 * 3. A replica that does not know it stops at that entry, or at a snapshot of a later one. It answers nothing then.
 */
export interface MachineFormats {
  /** The highest that this release knows. */
  readonly known: number
  /** The lowest of those that releases of all processes know, as far as this one can tell. */
  common(): number
  /** This one is in force: told at each change, in the order of the log. It must not throw. */
  inForce(format: number): void
}

/** @throws ConsensusError if this release does not know the format. */
export function checkFormat(format: number, known: number): void {
  if (format <= known) return
  const what = `the log uses format ${format} of its commands, and this release of Aether knows format ${known}`
  throw new ConsensusError('FORMAT', `${what}; install the release that the other processes run, or a later one`)
}

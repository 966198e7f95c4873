import type { CoherenceKind } from 'aether-dsm/internal/dsm'
import { nextRandom, seedRandom } from './random-words.ts'

/** How many bodies move, how often, and in what memory. */
export interface BodiesPlan {
  readonly bodies: number
  readonly steps: number
  readonly coherence: CoherenceKind
  readonly pageBytes: number
}

/** Bodies `first … end - 1`. */
export interface BodiesShare {
  readonly first: number
  readonly end: number
}

/** Doubles for a body: x, y, z. */
export const coordinates = 3
/** Squared, added to each squared distance: bodies that meet are not flung apart. */
const softening = 1e-4
const timeStep = 1e-3

/** Bodies anywhere in the unit cube, the same in each process. */
export function placeBodies(positions: Float64Array): void {
  const random = seedRandom(1)
  for (let at = 0; at < positions.length; at += 1) positions[at] = nextRandom(random) / 2 ** 32
}

/**
 * Move a share of the bodies, alternating between two sets of positions. Returns the set with the last positions. Every
 * rank calls this with its own share. A single process calls it with all bodies.
 */
export function runBodies(
  positions: readonly [Float64Array, Float64Array],
  share: BodiesShare,
  steps: number,
  barrier: () => void = () => {},
): Float64Array {
  const speeds = new Float64Array((share.end - share.first) * coordinates)
  for (let step = 0; step < steps; step += 1) {
    const parity = (step & 1) as 0 | 1
    moveBodies(positions[parity], positions[(parity ^ 1) as 0 | 1], speeds, share)
    barrier()
  }
  return positions[(steps & 1) as 0 | 1]
}

/**
 * One step of bodies `first … end - 1`. The forces of all bodies are added in their order, so that the bits do not
 * depend on who computes them. `speeds` are those of these bodies alone.
 */
function moveBodies(from: Float64Array, to: Float64Array, speeds: Float64Array, { first, end }: BodiesShare): void {
  for (let body = first * coordinates; body < end * coordinates; body += coordinates) {
    const x = from[body]!
    const y = from[body + 1]!
    const z = from[body + 2]!
    let forceX = 0
    let forceY = 0
    let forceZ = 0
    for (let other = 0; other < from.length; other += coordinates) {
      const dx = from[other]! - x
      const dy = from[other + 1]! - y
      const dz = from[other + 2]! - z
      const square = dx * dx + dy * dy + dz * dz + softening
      const weight = 1 / (square * Math.sqrt(square))
      forceX += dx * weight
      forceY += dy * weight
      forceZ += dz * weight
    }
    const speed = body - first * coordinates
    speeds[speed]! += forceX * timeStep
    speeds[speed + 1]! += forceY * timeStep
    speeds[speed + 2]! += forceZ * timeStep
    to[body] = x + speeds[speed]! * timeStep
    to[body + 1] = y + speeds[speed + 1]! * timeStep
    to[body + 2] = z + speeds[speed + 2]! * timeStep
  }
}

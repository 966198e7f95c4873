import { ArgumentError } from 'aether-dsm/internal/native'
import type { EdgeSet } from './edge-set.ts'
import { nextRandom, type RandomState, seedRandom } from './random-words.ts'

/** Edges a vertex; Graph 500 specification, section 3. */
export const edgeFactor = 16
/**
 * Initiator probabilities A, B, C of the specification (D is the rest), summed, as thresholds of a signed 32-bit draw:
 * a draw is uniform over -2^31 … 2^31 - 1, and integer comparisons are the fastest.
 */
const thresholdB = thresholdOf(0.57)
const thresholdC = thresholdOf(0.57 + 0.19)
const thresholdD = thresholdOf(0.57 + 0.19 + 0.19)

/** 2^28 vertices have 2^32 edges, one more than 32-bit edge numbers reach. */
export const scaleMax = 27

/** Which Kronecker graph. */
export interface KroneckerOptions {
  /** 2^scale vertices, 16 · 2^scale edges; 1 … 27. */
  readonly scale: number
  /** An integer in 0 … 2^32 - 1; the same seed gives the same graph on every machine. */
  readonly seed: number
}

/**
 * A seeded Kronecker graph, as in the Graph 500 benchmark. Each edge descends `scale` times into one quadrant of the
 * adjacency matrix, chosen with probabilities A, B, C and D. Then the labels are permuted, so that a vertex's number
 * says nothing about its degree. Edges are directed; parallel edges and self-loops stay, as in the specification. The
 * order of edges is not shuffled, because nothing here depends on it.
 *
 * Source: https://graph500.org/?page_id=12, section 3.2 and its reference code `kronecker_generator`. That code draws
 * twice for each level, first the row and then the column. One draw among four quadrants has the same distribution.
 *
 * @throws ArgumentError for a scale or a seed out of range.
 */
export function generateKronecker({ scale, seed }: KroneckerOptions): EdgeSet {
  if (!Number.isInteger(scale) || scale < 1 || scale > scaleMax) {
    throw new ArgumentError(
      'scale',
      `the scale of a Kronecker graph is an integer in 1 … ${scaleMax}; this is ${scale}`,
    )
  }
  if (seed >>> 0 !== seed) {
    throw new ArgumentError('seed', `a seed is an integer in 0 … ${2 ** 32 - 1}; this is ${seed}`)
  }
  const vertexCount = 2 ** scale
  const from = new Uint32Array(vertexCount * edgeFactor)
  const to = new Uint32Array(vertexCount * edgeFactor)
  const random = seedRandom(seed)
  drawEdges(from, to, scale, random)
  relabel(from, to, drawPermutation(vertexCount, random))
  const describe = (vertex: number) => ({
    name: `vertex ${vertex}`,
    gloss: '',
  })
  return {
    name: `Kronecker graph, scale ${scale}, seed ${seed}`,
    vertexCount,
    from,
    to,
    describe,
  }
}

/**
 * The hot loop: scale · 16 · 2^scale draws (335 million at scale 20), hence the generator of random-words.ts written
 * out in local variables, which stay in registers: several times faster than calling it.
 */
function drawEdges(from: Uint32Array, to: Uint32Array, scale: number, random: RandomState): void {
  let s0 = random[0]!
  let s1 = random[1]!
  let s2 = random[2]!
  let s3 = random[3]!
  for (let edge = 0; edge < from.length; edge += 1) {
    let row = 0
    let column = 0
    for (let level = 0; level < scale; level += 1) {
      const product = Math.imul(s1, 5)
      const draw = Math.imul((product << 7) | (product >>> 25), 9)
      const shifted = s1 << 9
      s2 ^= s0
      s3 ^= s1
      s1 ^= s2
      s0 ^= s3
      s2 ^= shifted
      s3 = (s3 << 11) | (s3 >>> 21)
      // Quadrants in the order A, B (right), C (below), D; comparisons make 0 or 1 without a branch, which would be
      // mispredicted every other time.
      const atLeastB = Number(draw >= thresholdB)
      const atLeastC = Number(draw >= thresholdC)
      const atLeastD = Number(draw >= thresholdD)
      row = (row << 1) | atLeastC
      column = (column << 1) | (atLeastB ^ atLeastC ^ atLeastD)
    }
    from[edge] = row
    to[edge] = column
  }
  random.set([s0, s1, s2, s3])
}

/** Fisher-Yates. */
function drawPermutation(length: number, random: RandomState): Uint32Array {
  const permutation = new Uint32Array(length)
  for (let i = 0; i < length; i += 1) {
    // A 32-bit draw scaled down; the bias is below length / 2^32.
    const j = Math.floor((nextRandom(random) / 2 ** 32) * (i + 1))
    permutation[i] = permutation[j]!
    permutation[j] = i
  }
  return permutation
}

function relabel(from: Uint32Array, to: Uint32Array, permutation: Uint32Array): void {
  for (let edge = 0; edge < from.length; edge += 1) {
    from[edge] = permutation[from[edge]!]!
    to[edge] = permutation[to[edge]!]!
  }
}

function thresholdOf(probability: number): number {
  return Math.round(probability * 2 ** 32) - 2 ** 31
}

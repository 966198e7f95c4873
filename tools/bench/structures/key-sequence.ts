import { Random } from 'aether-dsm/internal/runtime'

/**
 * How keys are chosen: all alike, or the k-th as often as 1 / k^0.99 (the skew of the Yahoo cloud serving benchmark).
 */
export const keyChoices = ['uniform', 'zipf'] as const
export type KeyChoice = (typeof keyChoices)[number]

/** A power of two. */
export const SEQUENCE_LENGTH: number = 2 ** 16
const SKEW = 0.99

/** Which of `keys` keys each operation takes; the same for the same seed. */
export function keySequence(choice: KeyChoice, keys: number, seed: number): Uint32Array {
  const random = new Random(seed)
  const sequence = new Uint32Array(SEQUENCE_LENGTH)
  const pick = choice === 'uniform' ? () => random.below(keys) : zipf(keys, random)
  for (let at = 0; at < sequence.length; at += 1) sequence[at] = pick()
  return sequence
}

/** Which operations write: `percent` of them. */
export function writeSequence(percent: number, seed: number): Uint8Array {
  const random = new Random(seed)
  return Uint8Array.from({ length: SEQUENCE_LENGTH }, () => (random.below(100) < percent ? 1 : 0))
}

function zipf(keys: number, random: Random): () => number {
  const sums = new Float64Array(keys)
  let sum = 0
  for (let key = 0; key < keys; key += 1) {
    sum += 1 / (key + 1) ** SKEW
    sums[key] = sum
  }
  return () => firstAbove(sums, (random.uint32() / 2 ** 32) * sum)
}

function firstAbove(sums: Float64Array, wanted: number): number {
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sums[middle]! > wanted) high = middle
    else low = middle + 1
  }
  return low
}

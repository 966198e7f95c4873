import process from 'node:process'
import { Random } from '../../src/runtime/index.ts'

const isWhole = process.env['AETHER_TEST_VALUES'] === 'all'

/** What the draws of this process begin with: said with each of them, so that `AETHER_TEST_SEED` repeats it. */
const seed = (): number => Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)

/**
 * Some of `variants` that find nearly the same, others in each run. What was drawn is printed, and `AETHER_TEST_SEED`
 * repeats it. All of them with `AETHER_TEST_VALUES=all`, as `npm run test:long` does.
 */
export function drawn<T>(variants: readonly T[], count: number): readonly T[] {
  if (isWhole) return variants
  const from = seed()
  const random = new Random(from)
  const left = [...variants]
  while (left.length > count) left.splice(random.below(left.length), 1)
  console.log(`of ${variants.length} variants, AETHER_TEST_SEED=${from} draws ${JSON.stringify(left)}`)
  return left
}

/**
 * Every `share`-th of `count` seeds, or steps at which something happens, from `first` on: others in each run, printed
 * and repeated as above. All of them with `AETHER_TEST_VALUES=all`, and where the environment says how many.
 */
export function drawnSeeds(count: number, share: number, first = 1, isSoak = false): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => first + index)
  if (isWhole || isSoak) return all
  const from = seed()
  const phase = new Random(from).below(share)
  console.log(`of ${count} seeds, AETHER_TEST_SEED=${from} draws one in ${share}, from ${first + phase} on`)
  return all.filter((_, index) => index % share === phase)
}

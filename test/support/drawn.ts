import process from 'node:process'
import { Random } from '../../src/runtime/index.ts'

/**
 * Some of `variants` that find nearly the same, others in each run. What was drawn is printed, and `AETHER_TEST_SEED`
 * repeats it. All of them with `AETHER_TEST_VALUES=all`, as `npm run test:long` does.
 */
export function drawn<T>(variants: readonly T[], count: number): readonly T[] {
  if (process.env['AETHER_TEST_VALUES'] === 'all') return variants
  const seed = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
  const random = new Random(seed)
  const left = [...variants]
  while (left.length > count) left.splice(random.below(left.length), 1)
  console.log(`of ${variants.length} variants, AETHER_TEST_SEED=${seed} draws ${JSON.stringify(left)}`)
  return left
}

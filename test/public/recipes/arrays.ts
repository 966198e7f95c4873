import * as module from 'aether-dsm/arrays'
import type { Recipes } from '../recipe.ts'

export async function arrayRecipes(): Promise<Recipes> {
  const xp = await module.openArrays()
  const array = xp.asarray([1, 2, 3])
  return {
    module,
    objects: { NdArray: [array], DType: [xp.float64] },
    values: { items: () => 0, index: () => '0:2', indices: () => 1, value: () => 5, hint: () => 'default' },
    calls: {
      'NdArray.at': { args: () => [0] },
      ...Object.fromEntries(
        ['NdArray.slice', 'NdArray.setAt', 'NdArray.get', 'NdArray.set', 'NdArray.owner'].map((name) => [
          name,
          { self: () => xp.asarray([1, 2, 3]) },
        ]),
      ),
    },
    async close() {},
  }
}

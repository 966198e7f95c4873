import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as module from 'aether-dsm/arrays'
import { join as joinGroup } from '../../../src/public/index.ts'
import type { Recipes } from '../recipe.ts'

export async function arrayRecipes(): Promise<Recipes> {
  const xp = await module.openArrays()
  const group = await joinGroup({ rank: 0, size: 1, rendezvous: 'local:bad-array-arguments' })
  const shared = await module.openArrays(group)
  const array = xp.asarray([1, 2, 3])
  const divided = shared.zeros(3, { partition: 'block' })
  const folder = await mkdtemp(join(tmpdir(), 'aether-array-arguments-'))
  let tables = 0
  const middle = (part: typeof array): typeof array => part.slice('1:-1')
  const path = (name: string): string => join(folder, name)
  await module.saveNpy(path('right.npy'), array)
  await module.saveNpz(path('right.npz'), { array })
  await module.saveZarr(path('right.zarr'), array)
  return {
    module,
    objects: { NdArray: [array], DType: [xp.float64], GroupFunctions: [shared] },
    values: { items: () => 0, index: () => '0:2', indices: () => 1, value: () => 5, hint: () => 'default' },
    data: ['where', 'arrays'],
    calls: {
      'NdArray.at': { args: () => [0] },
      ...Object.fromEntries(
        ['NdArray.slice', 'NdArray.setAt', 'NdArray.get', 'NdArray.set', 'NdArray.owner'].map((name) => [
          name,
          { self: () => xp.asarray([1, 2, 3]) },
        ]),
      ),
      ...Object.fromEntries(
        ['NdArray.getBulk', 'NdArray.putBulk'].map((name) => [
          name,
          { self: () => divided, args: () => [{ rank: 0, start: 1 }, new Float64Array(2)] },
        ]),
      ),
      'GroupFunctions.redistribute': { args: () => [divided, 'cyclic'] },
      'GroupFunctions.named': {
        args: () => [`table ${++tables}`, { shape: [3], dtype: xp.float64, partition: 'block' }],
      },
      'GroupFunctions.exchangeHalo': { args: () => [divided, 1, { edge: 'wrap' }] },
      'GroupFunctions.stencil': { args: () => [divided, 1, middle, { edge: 0, dtype: xp.float64 }] },
      // A second namespace of the group has memory of its own, which it gives back with the group.
      openArrays: { args: () => [group], valuesMax: 20 },
      loadNpy: { args: () => [xp, path('right.npy'), { rows: [0, 2] }] },
      loadNpz: { args: () => [xp, path('right.npz'), { names: ['array'] }] },
      loadZarr: { args: () => [xp, path('right.zarr'), { region: [[0, 2]] }] },
      saveNpy: { args: () => [path('left.npy'), array, {}] },
      saveNpz: { args: () => [path('left.npz'), { array }, { compressed: true }] },
      saveZarr: { args: () => [path('left.zarr'), array, { chunks: [2] }] },
    },
    async close() {
      await shared.close()
      await group.close()
      await rm(folder, { recursive: true })
    },
  }
}

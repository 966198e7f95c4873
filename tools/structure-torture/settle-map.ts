import type { SharedMap, Structures } from 'aether-dsm/internal/structures'
import type { CommonStructures } from './subject.ts'

type Memory = Pick<Structures, 'usage' | 'recover'>
type Keys = Pick<SharedMap<Uint8Array>, 'set' | 'delete'>

const NOTHING = new Uint8Array(0)
/** More steps than a table of the smallest size allows before it is rebuilt. */
const STEPS_MAX = 4096

/**
 * Brings an empty map's table to one state, whatever was in it before. Deleted keys leave tombstones, which go when the
 * table is rebuilt, and then it may shrink by half. So insert and delete `slots` keys (twice the largest table), until
 * it has the smallest size. Then go on until it is rebuilt once more.
 */
export async function settleMap(shared: CommonStructures, map: Keys, slots: number): Promise<void> {
  if (!isOfMachine(shared)) return
  for (let key = 0; key < slots; key += 1) await pass(map, key)
  let before = used(shared)
  for (let key = slots; key < slots + STEPS_MAX; key += 1) {
    await pass(map, key)
    const after = used(shared)
    if (after < before) return
    before = after
  }
}

async function pass(map: Keys, key: number): Promise<void> {
  await map.set(`settle ${key}`, NOTHING)
  await map.delete(`settle ${key}`)
}

function used(shared: Memory): number {
  shared.recover()
  return shared.usage().usedBytes
}

function isOfMachine(shared: CommonStructures): shared is CommonStructures & Memory {
  return 'usage' in shared
}

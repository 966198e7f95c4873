import process from 'node:process'
import * as door from '../../../src/public/index.ts'
import type { Recipe, Recipes } from '../recipe.ts'

const KIB = 1024

/** A space, a group of one rank, and a region of each kind. */
export async function mainRecipes(): Promise<Recipes> {
  const space = await door.open('bad-arguments')
  const group = await door.join({ rank: 0, size: 1, rendezvous: 'local:bad-arguments' })
  const plain = await space.openRegion('plain', { size: 64 * KIB })
  const coherent = await group.openRegion('coherent', { size: 64 * KIB, coherence: 'mesi' })
  const local = await group.openRegion('local', { size: 64 * KIB })
  const regions = [plain, coherent, local]
  return {
    module: door,
    objects: { Space: [space], Group: [group], RegionGroup: [group], Region: regions },
    values: {
      offsetBytes: () => 8,
      lengthBytes: () => 16,
      target: () => new Uint8Array(8),
      source: () => new Uint8Array(8),
      value: () => 1n,
      expected: () => 1n,
      desired: () => 1n,
      access: () => 'read',
      kind: () => Int32Array,
      index: () => 0,
      bytes: () => new Uint8Array(8),
      member: () => space.self,
      listener: () => () => {},
      rank: () => 0,
      name: () => 'name',
      advice: () => ({ region: 'coherent', pages: [], unwatched: [], silent: [], more: false }),
    },
    data: ['member', 'advice'],
    calls: {
      open: { args: () => ['scratch', {}], after: endKeepers },
      'Space.save': { args: () => [{ file: 'space.save' }] },
      join: {
        args: () => [{ rank: 0, size: 1, rendezvous: 'local:scratch', timeoutMs: 5000 }],
        valuesMax: 12,
      },
      'Space.openRegion': { args: () => ['scratch', { size: 4 * KIB }] },
      'RegionGroup.openRegion': { args: () => ['scratch', { size: 4 * KIB, coherence: 'mesi' }] },
      'Space.events': { waits: () => {} },
      'Group.messages': { args: () => [{}], waits: () => group.send(0, Uint8Array.of(1)) },
      ...regionCalls(plain, coherent, local),
    },
    async close() {
      await group.close()
      await space.close()
    },
  }
}

/** Some wrong values of `keep` are right ones. */
async function endKeepers(): Promise<void> {
  await using space = await door.open('scratch')
  for (const { processId } of space.members()) if (processId !== process.pid) process.kill(processId, 'SIGKILL')
}

function regionCalls(plain: door.Region, coherent: door.Region, local: door.Region): Record<string, Recipe | Recipe[]> {
  const allocated = (region: door.Region): Recipe => ({
    self: () => region,
    args: async () => [await region.alloc(8)],
  })
  const shared: readonly Recipe[] = [{ self: () => coherent }, { self: () => local }]
  return {
    'Region.free': [allocated(plain), allocated(coherent)],
    'Region.lock': [...shared, { self: () => plain, neverRight: 'a space has no locks' }],
    'Region.lockSync': [...shared, { self: () => plain, neverRight: 'a space has no locks' }],
    'Region.advice': [
      { self: () => coherent },
      { self: () => plain, neverRight: 'the pages of a hardware region do not move' },
    ],
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import * as module from 'aether-dsm/index-service'
import { join as joinGroup } from '../../../src/public/index.ts'
import type { Recipes } from '../recipe.ts'

/** A node of one, with a value of each type. */
export async function indexServiceRecipes(): Promise<Recipes> {
  const name = `bad-index-arguments-${process.pid}`
  const group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:${name}` })
  const index = await module.openIndex(group, { name })
  const folder = mkdtempSync(join(tmpdir(), 'aether-recipes-'))
  const file = join(folder, 'index.backup')
  await index.backup(file)
  const waiting = index.listAt('waited for')
  let opened = 0
  return {
    module,
    objects: {
      Index: [index],
      IndexHash: [index.hashAt('hash')],
      IndexList: [index.listAt('list')],
      IndexSet: [index.setAt('set')],
      IndexSortedSet: [index.sortedSetAt('sorted set')],
    },
    values: {
      key: () => 'string',
      keys: () => 'string',
      value: () => 'text',
      values: () => 'text',
      by: () => 1,
      ttlMs: () => 60_000,
      field: () => 'field',
      fields: () => 'field',
      member: () => 'member',
      members: () => 'member',
      score: () => 1,
      from: () => 0,
      to: () => -1,
    },
    calls: {
      openIndex: { args: () => [group, { name: `${name}-${++opened}` }], valuesMax: 4 },
      connectIndex: { args: () => [name, {}], valuesMax: 8 },
      'Index.increment': { args: () => ['number', 1, {}] },
      'Index.versions': { args: () => [['string'], {}] },
      'Index.call': { args: () => ['SET', 'string', 'text'] },
      'Index.hotKeys': { args: () => [{ forMs: 1 }], valuesMax: 8 },
      'Index.sizesByPrefix': { args: () => [{}] },
      'Index.slowLog': { args: () => [{}] },
      'Index.backup': { args: () => [file, {}] },
      'Index.restore': { args: () => [file, { merge: true }] },
      'Index.atomic': { args: () => [[['SET', 'string', 'text']], {}] },
      'IndexHash.set': { args: () => [{ field: 'text' }, {}] },
      'IndexHash.increment': { args: () => ['number', 1, {}] },
      'IndexList.take': { args: () => [{}], waits: async () => void (await waiting.push('text')), self: () => waiting },
    },
    close: async () => {
      await index.close()
      await group.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

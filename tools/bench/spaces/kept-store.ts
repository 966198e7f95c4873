import { open } from 'aether-dsm'
import { optionalPackage, packageVersion } from '../peers/optional-package.ts'
import { aetherStore } from '../structures/aether-store.ts'
import type { BenchStore } from '../structures/bench-store.ts'
import { openLmdbStore } from '../structures/lmdb-store.ts'
import { loadSqlite, openSqliteStore, sqliteProvider } from './sqlite-store.ts'

/** What is compared: structures of a space, and databases that any process of the machine can open. */
export type KeptStoreName = 'aether' | 'lmdb' | 'SQLite'
/** Where it is: a space that ends with its processes, or a directory. */
export type PlaceName = 'memory' | 'tmpfs' | 'disk'

/** What every process needs to open the same store. */
export interface StorePlan {
  readonly store: KeptStoreName
  readonly place: PlaceName
  readonly space: string
  /** Its own, with all of its files; of no use to a space in memory. */
  readonly directory: string
  /** Of the region of structures. */
  readonly regionBytes: number
  /** The file from which a space in memory is restored. */
  readonly save?: string
}

/** @throws AetherError where the package is not installed, or the space cannot be opened: why. */
export async function openKeptStore(plan: StorePlan): Promise<BenchStore> {
  const { store, space, directory, regionBytes } = plan
  if (store === 'lmdb') return await openLmdbStore({ space, directory })
  if (store === 'SQLite') return await openSqliteStore({ space, directory })
  return await aetherStore(await open(space, optionsOf(plan)), { size: regionBytes })
}

function optionsOf({ place, directory, save }: StorePlan): Parameters<typeof open>[1] {
  if (place !== 'memory') return { directory }
  return save === undefined ? {} : { save: { file: save } }
}

/** Load its package, so that opening it takes no time for that. Gives how rows call the store. */
export async function loadStore(store: KeptStoreName): Promise<string> {
  if (store === 'aether') return store
  if (store === 'SQLite') {
    await loadSqlite()
    return await sqliteProvider()
  }
  await optionalPackage(store)
  return `${store} ${packageVersion(store)}`
}

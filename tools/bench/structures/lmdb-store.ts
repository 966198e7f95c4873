import { join } from 'node:path'
import { optionalPackage } from '../peers/optional-package.ts'
import type { BenchStore, Meeting } from './bench-store.ts'

/** What is used of the package `lmdb`. */
interface Lmdb {
  open(options: {
    readonly path: string
    readonly encoding: 'binary'
    readonly noSync: boolean
    readonly maxReaders: number
  }): Database
}

interface Database {
  get(key: string): Uint8Array | undefined
  putSync(key: string, value: Uint8Array): boolean
  transactionSync<T>(work: () => T): T
  clearSync(): void
  close(): Promise<void>
}

/** A database in a file that is never synced, because memory is compared and not the disk. */
export async function openLmdbStore({ directory }: Meeting): Promise<BenchStore> {
  const { open } = await optionalPackage<Lmdb>('lmdb')
  const database = open({ path: join(directory, 'lmdb'), encoding: 'binary', noSync: true, maxReaders: 126 })
  return {
    waits: false,

    operations: (value) => ({
      get: (key) => database.get(key),
      set: (key) => database.putSync(key, value),
      update: (key) => database.transactionSync(() => database.putSync(key, database.get(key) ?? value)),
    }),

    batch: (operations) => database.transactionSync(operations),

    async clear() {
      database.clearSync()
    },

    close: () => database.close(),
  }
}

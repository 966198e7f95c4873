import { join } from 'node:path'
import { AetherError } from 'aether-dsm/internal/native'
import { optionalPackage } from '../peers/optional-package.ts'
import type { BenchStore, Meeting } from '../structures/bench-store.ts'

/** What `better-sqlite3` and `node:sqlite` have in common, as far as it is used. */
interface Sqlite {
  exec(statements: string): unknown
  prepare(statement: string): Statement
  close(): void
}

interface Statement {
  get(...values: unknown[]): Record<string, unknown> | undefined
  run(...values: unknown[]): unknown
}

type SqliteClass = new (path: string) => Sqlite

/** The largest that SQLite takes unless it is compiled otherwise. */
const MAPPED_BYTES = 0x7fff0000

/** @throws AetherError where there is none, which says what to type. */
export async function loadSqlite(): Promise<SqliteClass> {
  try {
    return await optionalPackage<SqliteClass>('better-sqlite3')
  } catch {
    return await builtInSqlite()
  }
}

async function builtInSqlite(): Promise<SqliteClass> {
  try {
    return (await optionalPackage<{ readonly DatabaseSync: SqliteClass }>('node:sqlite')).DatabaseSync
  } catch (cause) {
    const why =
      'the package better-sqlite3 is not installed (npm install better-sqlite3), and Node.js has SQLite from 22.13'
    throw new AetherError('ERR_AETHER_BENCH', why, { cause })
  }
}

/** How rows call it, with its version. */
export async function sqliteProvider(): Promise<string> {
  const database = new (await loadSqlite())(':memory:')
  try {
    return `SQLite ${database.prepare('SELECT sqlite_version() AS version').get()!['version']}`
  } finally {
    database.close()
  }
}

/**
 * A table of a database that does not wait for its disk, and keeps everything when its process is killed. That is WAL
 * with `synchronous = OFF` (https://sqlite.org/pragma.html#pragma_synchronous). It reads through mapped memory.
 */
export async function openSqliteStore({ directory }: Meeting): Promise<BenchStore> {
  const database = new (await loadSqlite())(join(directory, 'sqlite.db'))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA mmap_size = ${MAPPED_BYTES}`)
  database.exec('CREATE TABLE IF NOT EXISTS map (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID')
  const one = database.prepare('SELECT value FROM map WHERE key = ?')
  const put = database.prepare('INSERT OR REPLACE INTO map VALUES (?, ?)')
  const all = database.prepare('DELETE FROM map')
  return {
    waits: false,

    operations(value) {
      const update = database.prepare('UPDATE map SET value = value WHERE key = ?')
      return {
        get: (key) => one.get(key)?.['value'],
        set: (key) => put.run(key, value),
        update: (key) => update.run(key),
      }
    },

    batch(operations) {
      database.exec('BEGIN')
      operations()
      database.exec('COMMIT')
    },

    async clear() {
      all.run()
    },

    async close() {
      database.close()
    },
  }
}

import { IndexError } from '../errors.ts'
import type { KeyOfDatabase } from '../state/backup-items.ts'
import type { ShardMachine } from '../state/shard-machine.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'

/** Reads the state of a shard as it is after everything that was answered to anyone. */
export type ShardQuery = <T>(read: (shard: ShardMachine) => T) => Promise<T>

/** So many keys that have changed are written at once, and more only if they do not become fewer. */
const KEYS_MAX = 512
const ROUNDS_MAX = 2000
/** How often it begins again because all keys have changed at once. */
const BEGINNINGS_MAX = 10

/** Keys that have changed since they were taken last. */
class ChangedKeys {
  readonly #keys = new Map<string, number>()
  isAll = false

  get size(): number {
    return this.#keys.size
  }

  add(key: Uint8Array | undefined, db: number): void {
    if (key === undefined) this.isAll = true
    else this.#keys.set(`${db} ${latin1Of(key)}`, db)
  }

  take(count: number): KeyOfDatabase[] {
    const taken: KeyOfDatabase[] = []
    for (const [name, db] of this.#keys) {
      if (taken.length === count) break
      this.#keys.delete(name)
      taken.push({ db, key: bytesOf(name.slice(name.indexOf(' ') + 1)) })
    }
    return taken
  }

  clear(): void {
    this.#keys.clear()
    this.isAll = false
  }
}

/**
 * Backups of a shard, which is written meanwhile. All keys are written, a few at a time. Then those that have changed
 * meanwhile are written again, until they are so few that they can be written at one moment. The backup is of that
 * moment. It is how memory is copied to another machine while it is in use (Clark et al., "Live Migration of Virtual
 * Machines", NSDI 2005).
 */
export class ShardBackups {
  readonly #query: ShardQuery
  readonly #running = new Set<ChangedKeys>()

  constructor(query: ShardQuery) {
    this.#query = query
  }

  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /** A key has changed; undefined: any may have. */
  changed(key: Uint8Array | undefined, db: number): void {
    if (this.#running.size === 0) return
    for (const changes of this.#running) changes.add(key, db)
  }

  /** Items as `backup-items.ts` has them, whole ones in each part. @throws IndexError */
  async *run(): AsyncGenerator<Uint8Array, void, undefined> {
    const changes = new ChangedKeys()
    this.#running.add(changes)
    try {
      for (let beginnings = 0; beginnings < BEGINNINGS_MAX; beginnings += 1) {
        yield* this.#all(changes)
        if (yield* this.#changes(changes)) return
      }
    } finally {
      this.#running.delete(changes)
    }
    const message = `all keys were changed at once ${BEGINNINGS_MAX} times while the backup was made, as FLUSHDB does`
    throw new IndexError('BUSY', `${message}; try again`, { outcome: 'not-applied' })
  }

  async *#all(changes: ChangedKeys): AsyncGenerator<Uint8Array, void, undefined> {
    let cursor = 0
    do {
      const part = await this.#query((shard) => {
        if (cursor === 0) changes.clear()
        return shard.backupPart(cursor, Date.now())
      })
      cursor = part.cursor
      yield part.items
    } while (cursor !== 0 && !changes.isAll)
  }

  /** False if it has to begin again. */
  async *#changes(changes: ChangedKeys): AsyncGenerator<Uint8Array, boolean, undefined> {
    for (let rounds = 0; ; rounds += 1) {
      const part = await this.#query((shard) => {
        if (changes.isAll) return undefined
        const isLast = changes.size <= KEYS_MAX || rounds === ROUNDS_MAX
        const keys = changes.take(isLast ? Number.POSITIVE_INFINITY : KEYS_MAX)
        return { items: shard.backupOfKeys(keys, isLast, Date.now()), isLast }
      })
      if (part === undefined) return false
      yield part.items
      if (part.isLast) return true
    }
  }
}

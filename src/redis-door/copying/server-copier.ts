import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf, latin1Of } from '../../index-service/index.ts'
import { messageOfThrown } from '../../native/index.ts'
import { KeyCopier } from './key-copier.ts'
import { connectRedis, type RedisLink } from './redis-link.ts'

/** How far a copy is. */
export interface CopyProgress {
  /** Keys that were copied, each time that they were. */
  readonly copied: number
  /** Keys of the other server when it began. */
  readonly total: number
  /** All were copied once: what follows are changes. */
  readonly isFollowing: boolean
  /** Changes that are known and not yet copied. */
  readonly behind: number
  /** Keys that could not be copied, and why; by database and key. */
  readonly failed: ReadonlyMap<string, string>
}

const NOTIFICATIONS = 'notify-keyspace-events'
const PAGE = 256
const LOOK_MS = 50
const LAST_MS = 200

/**
 * Copies a living server to another. First it listens for changes, then it copies all keys. Then it copies those that
 * have changed since, until it is stopped.
 *
 * A key that changes while it is copied is told after that, and so copied again. In the end both have the same.
 */
export class ServerCopier implements AsyncDisposable {
  readonly #fromUrl: string
  readonly #toUrl: string
  readonly #links: RedisLink[] = []
  /** Of each database. */
  readonly #copiers = new Map<number, KeyCopier>()
  /** Keys that have changed, by database, as latin1. */
  readonly #changed = new Map<number, Set<string>>()
  readonly #failed = new Map<string, string>()
  /** What the other server had set, if it was changed. */
  #notifications: { readonly link: RedisLink; readonly flags: string } | undefined
  #copied = 0
  #total = 0
  #isFollowing = false

  /** @throws Error if one of them does not answer. */
  static async open(fromUrl: string, toUrl: string): Promise<ServerCopier> {
    const copier = new ServerCopier(fromUrl, toUrl)
    try {
      await copier.#link(toUrl)
      await copier.#link(fromUrl)
      return copier
    } catch (error) {
      await copier.close()
      throw error
    }
  }

  private constructor(fromUrl: string, toUrl: string) {
    this.#fromUrl = fromUrl
    this.#toUrl = toUrl
  }

  get progress(): CopyProgress {
    let behind = 0
    for (const keys of this.#changed.values()) behind += keys.size
    const [copied, total, isFollowing] = [this.#copied, this.#total, this.#isFollowing]
    return { copied, total, isFollowing, behind, failed: this.#failed }
  }

  /**
   * Be told of changes from now on. False if the other server lets no one change what it tells: then changes are not
   * followed.
   */
  async listen(): Promise<boolean> {
    const from = await this.#link(this.#fromUrl)
    try {
      const [, flags] = (await from.config('GET', NOTIFICATIONS)) as [string, string]
      await from.config('SET', NOTIFICATIONS, 'KEA')
      this.#notifications = { link: from, flags }
    } catch {
      return false
    }
    const listener = await this.#link(this.#fromUrl)
    listener.on('pmessageBuffer', (_pattern, channel, message) => this.#heard(latin1Of(channel), latin1Of(message)))
    await listener.psubscribe('__keyevent@*__:*')
    return true
  }

  /** All keys of all databases, once. */
  async copyAll(signal: AbortSignal): Promise<void> {
    const databases = databasesOf(await (await this.#link(this.#fromUrl)).info('keyspace'))
    this.#total = databases.reduce((total, { keys }) => total + keys, 0)
    for (const { db } of databases) {
      const from = await this.#link(this.#fromUrl, db)
      const seen = new Set<string>()
      for (let cursor = '0'; !signal.aborted; ) {
        const [next, keys] = (await from.callBuffer('SCAN', cursor, 'COUNT', PAGE)) as [Buffer, readonly Buffer[]]
        await this.#copy(
          db,
          keys.map(latin1Of).filter((key) => !seen.has(key)),
        )
        for (const key of keys) seen.add(latin1Of(key))
        cursor = latin1Of(next)
        if (cursor === '0') break
      }
    }
    this.#isFollowing = true
  }

  /** Copy what changes, until the signal aborts; then what has changed until then. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!(await this.#copyChanged())) await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
    // What the server has told last may be on its way.
    await sleep(LAST_MS)
    while (await this.#copyChanged());
  }

  async close(): Promise<void> {
    const { link, flags } = this.#notifications ?? {}
    this.#notifications = undefined
    await link?.config('SET', NOTIFICATIONS, flags).catch(() => undefined)
    for (const each of this.#links.splice(0)) each.disconnect()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #link(url: string, db: number = 0): Promise<RedisLink> {
    const link = await connectRedis(url)
    this.#links.push(link)
    if (db !== 0) await link.select(db)
    return link
  }

  #heard(channel: string, key: string): void {
    const db = Number(/^__keyevent@(\d+)__:/.exec(channel)?.[1])
    const keys = this.#changed.get(db) ?? new Set()
    keys.add(key)
    this.#changed.set(db, keys)
  }

  /** False if there was nothing to copy. */
  async #copyChanged(): Promise<boolean> {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const [db, keys] of changed) await this.#copy(db, [...keys])
    return changed.length > 0
  }

  async #copy(db: number, keys: readonly string[]): Promise<void> {
    const copier = await this.#copierOf(db)
    for (let at = 0; at < keys.length; at += PAGE)
      await Promise.all(keys.slice(at, at + PAGE).map((key) => this.#copyKey(copier, db, key)))
  }

  async #copyKey(copier: KeyCopier, db: number, key: string): Promise<void> {
    const name = `${db}: ${key}`
    try {
      await copier.copy(bytesOf(key))
      this.#copied += 1
      this.#failed.delete(name)
    } catch (error) {
      this.#failed.set(name, messageOfThrown(error))
    }
  }

  async #copierOf(db: number): Promise<KeyCopier> {
    const known = this.#copiers.get(db)
    if (known !== undefined) return known
    const copier = new KeyCopier(await this.#link(this.#fromUrl, db), await this.#link(this.#toUrl, db))
    this.#copiers.set(db, copier)
    return copier
  }
}

/** Of INFO keyspace: `db0:keys=3,expires=0,avg_ttl=0`. */
function databasesOf(info: string): readonly { readonly db: number; readonly keys: number }[] {
  return [...info.matchAll(/^db(\d+):keys=(\d+)/gm)].map(([, db, keys]) => ({ db: Number(db), keys: Number(keys) }))
}

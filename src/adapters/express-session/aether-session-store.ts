import { type SessionData, Store } from 'express-session'
import {
  checkFunction,
  checkMilliseconds,
  checkOptions,
  checkText,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import { type Codec, json, type SharedMap, type Structures } from '../../structures/index.ts'
import { checkWhere } from '../lease.ts'
import { LeasedMap } from '../leased-map.ts'

const DAY_MS = 86_400_000

/** Options of {@link AetherSessionStore}. */
export interface AetherSessionStoreOptions {
  /** The map that holds the sessions. Default `'sessions'`. */
  readonly name?: string
  /**
   * How long a session lives if its cookie has no expiry (one that the browser forgets when it is closed), in
   * milliseconds. Default one day.
   */
  readonly ttlMs?: number
}

const names: OptionNames<AetherSessionStoreOptions> = { name: true, ttlMs: true }

/** A session as `all` returns it. */
export type StoredSession = SessionData & { readonly id: string }

/** Called without an error (undefined or null), or with the error that was thrown. */
type SessionCallback<T = void> = (error?: unknown, result?: T) => void

/**
 * Sessions as JSON, as express-session's own store keeps them, each until its cookie expires. `touch` and `set` are one
 * step each, even if several processes call them at a time. A touch never undoes a change made by `set`, and never
 * brings back a destroyed session.
 */
export class AetherSessionStore extends Store {
  readonly #map: LeasedMap<SessionData>
  readonly #ttlMs: number

  /**
   * @param where the name of a space, which this process enters now; or open structures, which the caller
   *   has to close.
   */
  constructor(where: string | Structures, options: AetherSessionStoreOptions = {}) {
    super()
    checkWhere('where', where)
    checkOptions('new AetherSessionStore', options, names)
    const { name = 'sessions', ttlMs = DAY_MS } = options
    checkText('options.name', name)
    checkMilliseconds('options.ttlMs', ttlMs)
    this.#map = new LeasedMap(where, name, { codec: json as Codec<SessionData> })
    this.#ttlMs = ttlMs
  }

  override get(sid: string, callback: SessionCallback<SessionData | null>): void {
    this.#answer((map) => map.getSync(sid) ?? null, callback)
  }

  override set(sid: string, session: SessionData, callback: SessionCallback = ignore): void {
    this.#answer((map) => {
      const ttlMs = this.#lifeOf(session)
      if (ttlMs > 0) map.setSync(sid, session, { ttlMs })
      else map.deleteSync(sid)
    }, callback)
  }

  override destroy(sid: string, callback: SessionCallback = ignore): void {
    this.#answer((map) => void map.deleteSync(sid), callback)
  }

  /** Take over the cookie's new expiry, and nothing else. */
  override touch(sid: string, session: SessionData, callback: SessionCallback = ignore): void {
    this.#answer((map) => {
      const ttlMs = this.#lifeOf(session)
      const touched = (stored: SessionData | undefined) => stored && { ...stored, cookie: session.cookie }
      if (ttlMs > 0) map.updateSync(sid, touched, { ttlMs })
      else map.deleteSync(sid)
    }, callback)
  }

  /** All sessions, each with its `id`. */
  override all(callback: SessionCallback<StoredSession[]>): void {
    this.#answer((map) => Array.from(map.entriesSync(), ([id, session]) => ({ ...session, id: String(id) })), callback)
  }

  override length(callback: SessionCallback<number>): void {
    this.#answer((map) => Array.from(map.entriesSync()).length, callback)
  }

  override clear(callback: SessionCallback = ignore): void {
    this.#answer((map) => map.clearSync(), callback)
  }

  /**
   * Resolves when the space is open: from then on this process keeps what is in it. Await it before you announce that
   * the process is ready.
   */
  async ready(): Promise<void> {
    await this.#map.open()
  }

  /** Release the space, if it was named. The sessions stay while another process has the space open. */
  async close(): Promise<void> {
    await this.#map.close()
  }

  /** Milliseconds that the session lives; not positive if the cookie has expired. */
  #lifeOf(session: SessionData): number {
    if (typeof session !== 'object' || session === null) throw mustBe('session', 'an object with a cookie', session)
    // A session that was read from a store has its date as text.
    const expires = session.cookie?.expires as Date | string | null | undefined
    const leftMs = expires ? new Date(expires).getTime() - Date.now() : this.#ttlMs
    // What is no date does not say when.
    return Number.isNaN(leftMs) ? this.#ttlMs : leftMs
  }

  /** The callback is never called before this returns, and errors that it throws are not caught here. */
  #answer<T>(work: (map: SharedMap<SessionData>) => T, callback: SessionCallback<T>): void {
    checkFunction('callback', callback, 'which takes an error and a result')
    const answered = this.#map.open().then(work)
    answered.then(
      (result) => setImmediate(callback, null, result),
      (error: unknown) => setImmediate(callback, error),
    )
  }
}

function ignore(): void {}

/**
 * A store for [express-session](https://github.com/expressjs/session) in memory that all processes of the machine share.
 *
 * ```ts
 * import { AetherSessionStore } from 'aether-dsm/adapters/express-session'
 * import session from 'express-session'
 *
 * const sessions = session({ store: new AetherSessionStore('shop'), secret: 'what nobody guesses', resave: false, saveUninitialized: false })
 * ```
 *
 * @module
 */
export {
  AetherSessionStore,
  type AetherSessionStoreOptions,
  type SessionCallback,
  type StoredSession,
} from './aether-session-store.ts'

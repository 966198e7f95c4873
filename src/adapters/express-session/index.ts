/**
 * A store for [express-session](https://github.com/expressjs/session) in memory that all processes of the machine
 * share.
 *
 * ```ts
 * import { AetherSessionStore } from 'aether-dsm/adapters/express-session'
 * import session from 'express-session'
 *
 * const store = new AetherSessionStore('shop')
 * const sessions = session({ store, secret: 'a long random text', resave: false, saveUninitialized: false })
 * ```
 *
 * @module aether-dsm/adapters/express-session
 */
export {
  AetherSessionStore,
  type AetherSessionStoreOptions,
  type StoredSession,
} from './aether-session-store.ts'

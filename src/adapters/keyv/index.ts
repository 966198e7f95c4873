/**
 * A store for [Keyv](https://github.com/jaredwray/keyv) 5, and so for `cacheable` and `cache-manager`, in memory that
 * all processes of the machine share.
 *
 * ```ts
 * import { KeyvAether } from 'aether-dsm/adapters/keyv'
 * import Keyv from 'keyv'
 *
 * const cache = new Keyv({ store: new KeyvAether('shop') })
 * await cache.set('greeting', 'hello', 60_000)
 * ```
 *
 * @module aether-dsm/adapters/keyv
 */
export { KeyvAether, type KeyvAetherOptions } from './keyv-aether.ts'

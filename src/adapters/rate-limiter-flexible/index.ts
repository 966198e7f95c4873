/**
 * A store for [rate-limiter-flexible](https://github.com/animir/node-rate-limiter-flexible) in memory that all
 * processes of the machine share.
 *
 * ```ts
 * import { RateLimiterAether } from 'aether-dsm/adapters/rate-limiter-flexible'
 *
 * const limiter = new RateLimiterAether({ storeClient: 'shop', points: 5, duration: 1 })
 * await limiter.consume('192.0.2.7')
 * ```
 *
 * @module aether-dsm/adapters/rate-limiter-flexible
 */
export { RateLimiterAether, type RateLimiterAetherOptions } from './rate-limiter-aether.ts'

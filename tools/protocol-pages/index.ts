/**
 * Pages of documentation made from the tables of the coherence protocols.
 *
 * ```ts
 * import { protocolPage } from 'aether-dsm/testing'
 *
 * console.log(protocolPage(mesi))
 * ```
 */
export { protocolPage } from './page.ts'

/**
 * Pages of documentation made from the tables of the coherence protocols.
 *
 * ```ts
 * import { protocolPage } from 'aether-dsm/testing'
 *
 * console.log(protocolPage(mesi))
 * ```
 */
export { protocolPage, wordless } from './page.ts'

/**
 * Data by key that several processes keep alike, for programs that outlive any of them.
 *
 * ```ts
 * import process from 'node:process'
 * import { join } from 'aether-dsm'
 * import { connectIndex, openIndex } from 'aether-dsm/index-service'
 *
 * await using group = await join({ name: `users-${process.pid}` })
 * await using node = await openIndex(group, { name: `users-${process.pid}`, replicas: 1 })
 * await node.set('user:1', 'ada')
 *
 * // In any process of this machine.
 * await using client = await connectIndex(`users-${process.pid}`)
 * console.log(await client.getText('user:1')) // prints ada
 * ```
 *
 * @module aether-dsm/index-service
 */
export {
  type AppendPolicy,
  type BackupOptions,
  type ConnectIndexOptions,
  connectIndex,
  type EvictionPolicy,
  Index,
  type IndexArgument,
  type IndexCallOptions,
  type IndexCommand,
  IndexError,
  type IndexErrorKind,
  type IndexFields,
  IndexHash,
  type IndexKey,
  IndexList,
  type IndexNodeFigures,
  type IndexOutcome,
  type IndexRangeOptions,
  type IndexRankOptions,
  IndexSet,
  type IndexSetOptions,
  type IndexShardFigures,
  IndexSortedSet,
  type IndexValue,
  type OpenIndexOptions,
  openIndex,
  type RestoreOptions,
  type Scored,
  type TuplePart,
  type Versioned,
} from '../index-service/index.ts'

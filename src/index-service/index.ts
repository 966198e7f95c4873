/**
 * The door of this room for other rooms: data by key, kept alike by several processes. Users import
 * `src/public/index-service.ts`.
 *
 * What each part knows:
 *
 * - `Keyspace`, `values/`: keys and what they hold. Strings and fields of hashes lie in a {@link RecordTable}: shared
 *   memory that other processes read while it is written; see `memory/layout.ts`.
 * - `commands/`: one table of commands, as Redis has them: what each does to a keyspace, and what it answers.
 * - `ShardMachine`: keyspace, calls that wait and expiry as a replicated machine, which `consensus/` keeps alike.
 * - `ShardReplica`: a replica of a shard, and what is to be cleaned up. {@link IndexNode}: those of a member. They
 *   come and go with the members. `IndexServer` serves clients.
 * - `IndexClient`: an index from outside. `ForeignReads`: the memory of a shard from outside. `RemoteReads` brings it
 *   from another machine by READs, over a `ReadLine` to the `ReadListener` of each node.
 * - `backup/`: files of all keys, written while the index is in use.
 * - {@link Index}, `handles/`: what programs use, over either.
 */
export type { AppendPolicy } from '../consensus/index.ts'
export type { BackupOptions } from './backup/backup.ts'
export type { RestoreOptions } from './backup/restore.ts'
export type { ClientLine, ConnectLine, NodeClient } from './client/client-line.ts'
export { IndexClient } from './client/index-client.ts'
export { type OpenReadLine, REQUESTS_MAX, type ReadContext, ReadLine } from './client/read-line.ts'
export type { CommandSpec } from './commands/command.ts'
export { matches } from './commands/patterns.ts'
export { CommandFault, type FaultReply, type Reply, shownName, unknownSubcommand } from './commands/reply.ts'
export {
  commandNamed,
  commandNames,
  faultOfCall,
  fitsArity,
  OUT_OF_MEMORY,
  wrongArity,
} from './commands/table.ts'
export { type ConnectIndexOptions, connectIndex } from './connect-index.ts'
export { IndexError, type IndexErrorKind, type IndexOutcome } from './errors.ts'
export type { IndexArgument, IndexCallOptions, IndexValue } from './handles/caller.ts'
export { type IndexFields, IndexHash } from './handles/hash-handle.ts'
export {
  Index,
  type IndexCommand,
  type IndexRangeOptions,
  type IndexSetOptions,
  type Versioned,
} from './handles/index-handle.ts'
export { IndexList } from './handles/list-handle.ts'
export { IndexSet } from './handles/set-handle.ts'
export { type IndexRankOptions, IndexSortedSet, type Scored } from './handles/sorted-set-handle.ts'
export type { IndexKey } from './keys/index-key.ts'
export { shardOf } from './keys/shard-of.ts'
export { SLOT_COUNT, slotOf } from './keys/slot.ts'
export type { TuplePart } from './keys/tuple-part.ts'
export type { Looked } from './looked.ts'
export type { RecordLooks } from './memory/record-looks.ts'
export { EVICTION_POLICIES, type EvictionPolicy } from './node/eviction-policy.ts'
export {
  type IndexNodeFigures,
  type IndexShardFigures,
  indexService,
  type NodeCard,
  type Place,
} from './node/index-contract.ts'
export { indexNodeCounters, indexShardCounters, ShardState } from './node/index-meter.ts'
export { IndexNode } from './node/index-node.ts'
export { handlersOf, type Served } from './node/index-server.ts'
export type { NodeGroup, NodeHost } from './node/node-host.ts'
export { holdersOf } from './node/placement.ts'
export type { NodeReads } from './node/read-listener.ts'
export { ShardRegions } from './node/shard-regions.ts'
export type { ShardFigures, ShardReplica } from './node/shard-replica.ts'
export type { SlowLog } from './node/slow-log.ts'
export { type OpenIndexOptions, openIndex, openNode } from './open-index.ts'
export type { IndexPort, ShardPort } from './port.ts'
export { CallPack, type PackedRequests } from './state/call-pack.ts'
export type { ShardScratch } from './state/scratch.ts'
export type { Call, Watched } from './state/shard-command.ts'
export { bytesOf, latin1Of } from './values/latin1.ts'
export { NameTable } from './values/name-table.ts'

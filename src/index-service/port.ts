import type { Reply } from './commands/reply.ts'
import type { PlacedOrNot } from './located.ts'
import type { Looked, LookedHash } from './looked.ts'
import type { RecordLooks } from './memory/record-looks.ts'
import type {
  HotKeysRequest,
  IndexNodeFigures,
  NodesHotKeys,
  NodesSlowCalls,
  SlowCallsRequest,
} from './node/index-contract.ts'
import type { SizesPart, SizesRequest } from './state/prefix-sizes.ts'
import type { Call, PackedCalls, Watched } from './state/shard-command.ts'

/** How long a call may take, and what ends it before. */
export interface CallLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** How calls reach the state of one shard: in this process, or from outside. Without a database, 0 is meant. */
export interface ShardPort {
  /**
   * Run calls one after the other with nothing in between; `null` if a watched key has changed, and none was run.
   * `apart`: they have nothing to do with each other, and go along for speed alone.
   */
  run(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    limits: CallLimits,
    apart?: boolean,
  ): Promise<readonly Reply[] | null>
  /** The same of calls that have nothing to do with each other, and are bytes already. */
  runPacked(packed: PackedCalls, limits: CallLimits): Promise<readonly Reply[]>
  /** Run calls that change nothing: they see everything that was answered to anyone before. */
  read(calls: readonly Call[], limits: CallLimits): Promise<readonly Reply[]>
  /** Versions of keys; 0 of one that is not there. */
  versions(keys: readonly Uint8Array[], limits: CallLimits, db?: number): Promise<readonly number[]>
  /** Run a call that may wait for `waitMs`, 0 for ever. It ends with `null` when that is over. */
  wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply>
  /** All keys, as they are at one moment: items as `backup-items.ts` has them, whole ones in each part. */
  backup(): AsyncIterable<Uint8Array>
  /** What keys take by their prefixes, from a cursor on: a few at a time. */
  sizes(request: SizesRequest, limits: CallLimits): Promise<SizesPart>
  /** What memory of this machine says: `undefined` if that cannot be told, and it has to be read. */
  lookAt(key: Uint8Array, db?: number): Looked | undefined
  lookAtHash(key: Uint8Array, db?: number): LookedHash | undefined
  lookAtField(key: Uint8Array, field: Uint8Array, db?: number): Looked | undefined
  /** Where the string at a key lies in the memory of a node, or a field of the hash there: undefined as above. */
  locate(key: Uint8Array, limits: CallLimits, field?: Uint8Array): Promise<PlacedOrNot>
  /** As `lookAt` for many reads at once, until the end of this turn; undefined as above. */
  looks(): RecordLooks | undefined
}

/** How calls reach an index: its shards, each with a part of the keys. */
export interface IndexPort {
  /** How many there are. */
  readonly shards: number
  shard(number: number): ShardPort
  /** What each node holds that can be asked, by rank. */
  figures(limits: CallLimits): Promise<readonly IndexNodeFigures[]>
  /** What took long at each node that can be asked. `reset`: they then forget it. */
  slowCalls(request: SlowCallsRequest, limits: CallLimits): Promise<readonly NodesSlowCalls[]>
  /** Keys that each node that can be asked sees used from now on. */
  hotKeys(request: HotKeysRequest, limits: CallLimits): Promise<readonly NodesHotKeys[]>
  /** Calls of a program of this process have ended. */
  callsEnded?(shard: ShardPort, calls: readonly Call[], tookMs: number): void
  close(): Promise<void>
}

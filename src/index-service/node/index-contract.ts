import type { ReadersOf } from '../../consensus/index.ts'
import {
  defineService,
  type ServerStream,
  type Service,
  type StandardSchema,
  serverStream,
  type,
  type Unary,
  unary,
} from '../../rpc/index.ts'
import type { ProcessLife } from '../../runtime/index.ts'
import type { Reply } from '../commands/reply.ts'
import type { IndexErrorKind, IndexOutcome } from '../errors.ts'
import { type CallsRequest, exchangeCodec } from '../state/exchange-codec.ts'
import type { SizesPart, SizesRequest } from '../state/prefix-sizes.ts'
import type { Call } from '../state/shard-command.ts'
import type { SlowEntry } from './slow-log.ts'

/** How a node of an index is reached, and which shards it holds. */
export interface NodeCard extends ProcessLife {
  readonly rank: number
  /** Which machine it is on: process numbers and places mean something else on another. */
  readonly machine: string
  /** Where it listens for clients of its machine, and for those of others; undefined if it does not. */
  readonly here: Place
  readonly beyond: Place | undefined
  readonly holds: readonly HeldShard[]
  /** Where it listens for clients of Redis; undefined if it does not. */
  readonly door?: Place | undefined
  /** The highest format of commands that its release knows; of releases that do not say so, the first. */
  readonly format?: number
}

/** Where a process of machine `from` reaches a node; undefined if it cannot. */
export function placeOfNode({ machine, here, beyond }: NodeCard, from: string): Place | undefined {
  return machine === from ? here : beyond
}

/** A shard that a node holds, and has caught up with. */
interface HeldShard {
  readonly shard: number
  /** The descriptor of its records, for processes of its machine. */
  readonly table: number
}

/** Where a server listens. */
export interface Place {
  readonly device?: string | undefined
  readonly address: string
  readonly port: number
}

/** What a client has to know: the nodes, and what it takes to read the memory of shards that the asked one holds. */
export interface IndexSight {
  readonly name: string
  readonly shards: number
  /** Of the node that tells it. */
  readonly machine: string
  readonly nodes: readonly NodeCard[]
  readonly held: readonly ShardSight[]
}

export interface ShardSight extends ReadersOf {
  readonly shard: number
  /** Rank of the leader; undefined while there is none. */
  readonly leader: number | undefined
}

/** How other machines READ a shard at a node. */
export interface ShardMemory {
  /** Where it takes connections for that. */
  readonly place: Place
  /** Two words of its table by chance. */
  readonly identity: readonly number[]
  /** Chunks of the table. */
  readonly chunks: readonly { readonly address: number; readonly key: number }[]
  /** Heads of the memory of replicas. */
  readonly heads: readonly { readonly id: number; readonly address: number; readonly key: number }[]
}

/** What a node holds, and how much of it there is. */
export interface IndexNodeFigures {
  readonly rank: number
  readonly processId: number
  /** Bytes that keys and values of all shards may take there. */
  readonly memoryBytes: number
  /** Calls that took long since it began, see `slowMs` of `openIndex`. */
  readonly slow: number
  readonly shards: readonly IndexShardFigures[]
}

/** Of a replica of a shard. */
export interface IndexShardFigures {
  readonly shard: number
  /** Rank of the node that leads it; undefined while none is known. */
  readonly leader: number | undefined
  readonly keys: number
  /** Keys that will expire. */
  readonly expiring: number
  /** Calls that wait for something to take. */
  readonly waiting: number
  /** Keys that were evicted since the node holds the shard. */
  readonly evicted: number
  /** Bytes that keys and values take; what is bounded. */
  readonly usedBytes: number
  /** Bytes of shared memory that are held for strings and fields of hashes. */
  readonly heldBytes: number
}

export interface SlowCallsRequest {
  /** They are forgotten once they were told. */
  readonly reset: boolean
}

export interface HotKeysRequest {
  /** How long uses are counted. */
  readonly forMs: number
  /** Keys that are wanted, at most. */
  readonly count: number
}

/** A key, and how often it was used. */
export interface HotKey {
  readonly db: number
  readonly key: Uint8Array
  readonly uses: number
}

export interface NodesHotKeys {
  readonly rank: number
  readonly keys: readonly HotKey[]
}

export interface NodesSlowCalls {
  readonly rank: number
  /** The latest first. */
  readonly calls: readonly SlowEntry[]
}

/** The longest call, and the longest answer: a key of a backup is restored by one. */
export const CALL_BYTES_MAX: number = 512 * 2 ** 20

/** A part of a backup is as long as the value of its key may be, and a stream has several items under way. */
export const PIECE_BYTES: number = 512 * 1024

interface VersionsRequest {
  readonly shard: number
  readonly keys: readonly Uint8Array[]
  readonly db: number
}

interface WaitRequest {
  readonly shard: number
  readonly call: Call
  /** How long the client waits; 0: without end. */
  readonly waitMs: number
}

interface HearRequest {
  readonly messages: readonly Uint8Array[]
}

type Methods = {
  look: Unary<undefined, IndexSight>
  run: Unary<CallsRequest, readonly Reply[] | null>
  read: Unary<CallsRequest, readonly Reply[]>
  versions: Unary<VersionsRequest, readonly number[]>
  wait: Unary<WaitRequest, Reply>
  figures: Unary<undefined, IndexNodeFigures>
  /** Releases before asked without a request. */
  slow: Unary<SlowCallsRequest | undefined, NodesSlowCalls>
  hot: Unary<HotKeysRequest, NodesHotKeys>
  /** Undefined where it cannot be READ. */
  memory: Unary<{ readonly shard: number }, ShardMemory | undefined>
  sizes: Unary<SizesRequest & { readonly shard: number }, SizesPart>
  /** Each part in pieces of {@link PIECE_BYTES}; the last piece of a part is shorter, and may be empty. */
  backup: ServerStream<{ readonly shard: number }, Uint8Array>
  /** What another node tells all. */
  hear: Unary<HearRequest, undefined>
}

/** An error of a node, as it is told to a client. */
interface NodeFailure {
  readonly kind: IndexErrorKind
  readonly message: string
  readonly outcome: IndexOutcome | undefined
}

type Errors = {
  /** The node does not hold the shard. Nothing was done. */
  moved: StandardSchema<{ shard: number }>
  /** What the node's own call came to. */
  failed: StandardSchema<NodeFailure>
}

/** What nodes do for clients. */
export const indexService: Service<Methods, Errors> = defineService({
  name: 'aether.index',
  errors: { moved: type<{ shard: number }>(), failed: type<NodeFailure>() },
  methods: {
    look: unary({ request: type<undefined>(), response: type<IndexSight>() }),
    run: unary({
      request: type<CallsRequest>(),
      response: type<readonly Reply[] | null>(),
      codec: exchangeCodec,
    }),
    read: unary({ request: type<CallsRequest>(), response: type<readonly Reply[]>(), codec: exchangeCodec }),
    versions: unary({ request: type<VersionsRequest>(), response: type<readonly number[]>() }),
    wait: unary({ request: type<WaitRequest>(), response: type<Reply>() }),
    figures: unary({ request: type<undefined>(), response: type<IndexNodeFigures>() }),
    slow: unary({ request: type<SlowCallsRequest | undefined>(), response: type<NodesSlowCalls>() }),
    memory: unary({ request: type<{ readonly shard: number }>(), response: type<ShardMemory | undefined>() }),
    hot: unary({ request: type<HotKeysRequest>(), response: type<NodesHotKeys>() }),
    sizes: unary({ request: type<SizesRequest & { readonly shard: number }>(), response: type<SizesPart>() }),
    backup: serverStream({ request: type<{ readonly shard: number }>(), response: type<Uint8Array>() }),
    hear: unary({ request: type<HearRequest>(), response: type<undefined>() }),
  },
})

import type { ReadersOf } from '../../consensus/index.ts'
import { defineService, type Service, type StandardSchema, type, type Unary, unary } from '../../rpc/index.ts'
import type { Reply } from '../commands/reply.ts'
import type { Call, Watched } from '../state/shard-command.ts'

/** How a node of an index is reached. */
export interface NodeCard {
  readonly rank: number
  readonly processId: number
  /** Where it listens for clients of its machine, and for those of others; undefined if it does not. */
  readonly here: Place
  readonly beyond: Place | undefined
  /** The descriptor of its records, for processes of its machine. */
  readonly table: number
}

/** Where a server listens. */
export interface Place {
  readonly device?: string | undefined
  readonly address: string
  readonly port: number
}

/** What a client has to know: the nodes, and what it takes to read their memory. */
export interface IndexSight extends ReadersOf {
  readonly name: string
  readonly nodes: readonly NodeCard[]
  /** Rank of the leader; undefined while there is none. */
  readonly leader: number | undefined
}

interface RunRequest {
  readonly calls: readonly Call[]
  readonly watched: readonly Watched[] | undefined
}

interface WaitRequest {
  readonly call: Call
  /** How long the client waits; 0: without end. */
  readonly waitMs: number
}

type Methods = {
  readonly look: Unary<undefined, IndexSight>
  readonly run: Unary<RunRequest, readonly Reply[] | null>
  readonly read: Unary<readonly Call[], readonly Reply[]>
  readonly versions: Unary<readonly Uint8Array[], readonly number[]>
  readonly wait: Unary<WaitRequest, Reply>
}

/** What nodes do for clients. */
export const indexService: Service<Methods, { readonly busy: StandardSchema<{ inFlight: number }> }> = defineService({
  name: 'aether.index',
  errors: { busy: type<{ inFlight: number }>() },
  methods: {
    look: unary({ request: type<undefined>(), response: type<IndexSight>() }),
    run: unary({ request: type<RunRequest>(), response: type<readonly Reply[] | null>() }),
    read: unary({ request: type<readonly Call[]>(), response: type<readonly Reply[]>() }),
    versions: unary({ request: type<readonly Uint8Array[]>(), response: type<readonly number[]>() }),
    wait: unary({ request: type<WaitRequest>(), response: type<Reply>() }),
  },
})

import { type CallContext, createServer, type Handlers, type Server } from '../../rpc/index.ts'
import type { Reply } from '../commands/reply.ts'
import { IndexError } from '../errors.ts'
import type { CallLimits, ShardPort } from '../port.ts'
import type { Call } from '../state/shard-command.ts'
import {
  CALL_BYTES_MAX,
  type HotKeysRequest,
  type IndexNodeFigures,
  type IndexSight,
  indexService,
  type NodesHotKeys,
  type NodesSlowCalls,
  PIECE_BYTES,
  type Place,
  type ShardMemory,
  type SlowCallsRequest,
} from './index-contract.ts'
import type { ListenPlace } from './listen-place.ts'
import type { SlowLog } from './slow-log.ts'

/** Clients of this machine meet a node by shared memory. */
const HERE = { device: 'shm0', address: '127.0.0.1' }

/** How long calls that came may take when the node is closed. */
const DRAIN_MS_MAX = 2000

/** What is served. */
export interface Served {
  /** The shards that are held here. */
  readonly held: ReadonlyMap<number, ShardPort>
  look(): IndexSight
  ownFigures(): IndexNodeFigures
  readonly slowLog: SlowLog
  ownSlowCalls(request: SlowCallsRequest | undefined): NodesSlowCalls
  ownHotKeys(request: HotKeysRequest, signal: AbortSignal): Promise<NodesHotKeys>
  memoryOf(shard: number): ShardMemory | undefined
  /** What another node has told all. */
  hear(message: Uint8Array): void
}

export interface IndexServerOptions {
  /** Where clients of other machines come. */
  readonly listen: ListenPlace | undefined
}

/** Serves clients of a node, from other processes and other machines. */
export class IndexServer {
  readonly here: Place
  readonly beyond: Place | undefined
  readonly #server: Server

  private constructor(server: Server, here: Place, beyond: Place | undefined) {
    this.#server = server
    this.here = here
    this.beyond = beyond
  }

  static async open(served: Served, { listen }: IndexServerOptions): Promise<IndexServer> {
    const server = serverOf(served)
    try {
      const { port } = await server.listen(HERE)
      const beyond = listen && (await server.listen({ address: listen.address, port: listen.port }))
      const place = beyond && { address: listen.told ?? beyond.address, port: beyond.port }
      return new IndexServer(server, { ...HERE, port }, place)
    } catch (error) {
      await server.close()
      throw error
    }
  }

  /** Calls that came are answered, and clients send others elsewhere. Those that wait are not waited for long. */
  close(): Promise<void> {
    return this.#server.drain({ timeoutMs: DRAIN_MS_MAX })
  }
}

function serverOf(served: Served): Server {
  const callsMax = Number.MAX_SAFE_INTEGER
  const server = createServer({ callsMax, callsPerSessionMax: callsMax, bodyBytesMax: CALL_BYTES_MAX })
  return server.serve(indexService, handlersOf(served))
}

/** What a node does for clients. */
export function handlersOf(served: Served): Handlers<typeof indexService> {
  const timed = async <T>(calls: readonly Call[], { session }: CallContext, work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now()
    try {
      return await work()
    } finally {
      served.slowLog.ended(calls, performance.now() - startMs, `client ${session}`)
    }
  }
  const portOf = (shard: number): ShardPort => {
    const port = served.held.get(shard)
    if (port === undefined) throw indexService.error('moved', { shard })
    return port
  }
  return {
    look: () => served.look(),
    figures: () => served.ownFigures(),
    slow: (request) => served.ownSlowCalls(request),
    memory: ({ shard }) => served.memoryOf(shard),
    hot: (request, { signal }) => served.ownHotKeys(request, signal),
    sizes: ({ shard, ...request }, context) => told(portOf(shard).sizes(request, limitsOf(context))),
    run: ({ shard, calls, watched, apart }, context) =>
      told(timed(calls, context, () => portOf(shard).run(calls, watched, limitsOf(context), apart))),
    read: ({ shard, calls }, context) =>
      told(timed(calls, context, () => portOf(shard).read(calls, limitsOf(context)))),
    versions: ({ shard, keys, db }, context) => told(portOf(shard).versions(keys, limitsOf(context), db)),
    wait: async ({ shard, call, waitMs }, { signal }): Promise<Reply> =>
      await told(portOf(shard).wait(call, waitMs, signal)),
    backup: ({ shard }) => toldInPieces(portOf(shard).backup()),
    hear: ({ messages }): undefined => {
      for (const message of messages) served.hear(message)
    },
  }
}

/** Errors of a node cross as what they are. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toldError(error)
  }
}

async function* toldInPieces(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const part of parts)
      for (let at = 0; at <= part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
  } catch (error) {
    throw toldError(error)
  }
}

function toldError(error: unknown): unknown {
  if (!(error instanceof IndexError)) return error
  const { kind, message, outcome } = error
  return indexService.error('failed', { kind, message, outcome }, message)
}

function limitsOf({ remainingMs, signal }: CallContext): CallLimits {
  return { timeoutMs: remainingMs, signal }
}

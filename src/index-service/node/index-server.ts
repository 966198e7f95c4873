import { type CallContext, createServer, type Server } from '../../rpc/index.ts'
import type { Reply } from '../commands/reply.ts'
import type { IndexPort } from '../port.ts'
import { type IndexSight, indexService, type Place } from './index-contract.ts'

/** Clients of this machine meet a node by shared memory. */
const HERE = { device: 'shm0', address: '127.0.0.1' }

export interface IndexServerOptions {
  readonly port: IndexPort
  readonly look: () => IndexSight
  /** Calls of clients under way at a time: more are refused at once. Those that wait do not count. */
  readonly inFlightMax: number
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

  /** `listen`: where clients of other machines come. */
  static async open(options: IndexServerOptions, listen: Place | undefined): Promise<IndexServer> {
    const server = serverOf(options)
    try {
      const { port } = await server.listen(HERE)
      const beyond = listen && (await server.listen({ address: listen.address, port: listen.port }))
      const place = beyond && { address: beyond.address, port: beyond.port }
      return new IndexServer(server, { ...HERE, port }, place)
    } catch (error) {
      await server.close()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}

function serverOf({ port, look, inFlightMax }: IndexServerOptions): Server {
  let inFlight = 0
  const bounded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (inFlight >= inFlightMax) throw indexService.error('busy', { inFlight })
    inFlight += 1
    try {
      return await work()
    } finally {
      inFlight -= 1
    }
  }
  return createServer({ callsMax: Number.MAX_SAFE_INTEGER }).serve(indexService, {
    look: () => look(),
    run: ({ calls, watched }, context) => bounded(() => port.run(calls, watched, limitsOf(context))),
    read: (calls, context) => bounded(() => port.read(calls, limitsOf(context))),
    versions: (keys, context) => bounded(() => port.versions(keys, limitsOf(context))),
    wait: ({ call, waitMs }, { signal }): Promise<Reply> => port.wait(call, waitMs, signal),
  })
}

/** What has begun to be decided goes on, even if its client is gone. */
function limitsOf({ remainingMs, signal }: CallContext): { timeoutMs: number; signal: AbortSignal } {
  return { timeoutMs: remainingMs, signal }
}

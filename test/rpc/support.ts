import {
  type Channel,
  type ChannelOptions,
  createServer,
  openChannel,
  type Server,
  type ServerOptions,
} from '../../src/rpc/index.ts'
import { type MemoryLink, type MemoryLinksOptions, memoryLinks } from '../support/memory-links.ts'

/** A server, and a channel to it over memory of this process. */
export interface Pair extends AsyncDisposable {
  readonly server: Server
  readonly channel: Channel
  readonly clientLink: MemoryLink
  readonly serverLink: MemoryLink
}

export interface PairOptions {
  readonly links?: MemoryLinksOptions
  readonly server?: ServerOptions
  readonly channel?: ChannelOptions
}

export function serverPair(serve: (server: Server) => void, options: PairOptions = {}): Pair {
  const [clientLink, serverLink] = memoryLinks(options.links)
  const server = createServer(options.server)
  serve(server)
  server.accept(serverLink)
  const channel = openChannel(clientLink, options.channel)
  return {
    server,
    channel,
    clientLink,
    serverLink,
    async [Symbol.asyncDispose]() {
      await channel.close()
      await server.close()
    },
  }
}

/** A promise with its ends. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Turns of the event loop until it holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** What a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was not rejected')
}

import type { MessageLink } from '../../src/messaging/index.ts'
import {
  type Channel,
  type ChannelOptions,
  createServer,
  openChannel,
  type Server,
  type ServerOptions,
} from '../../src/rpc/index.ts'
import { type MemoryLink, type MemoryLinksOptions, memoryLinks } from '../support/memory-links.ts'

/** A server and a channel to it, with both ends of the link in hand. */
export interface Pair<Link extends MessageLink = MemoryLink> extends AsyncDisposable {
  readonly server: Server
  readonly channel: Channel
  readonly clientLink: Link
  readonly serverLink: Link
}

/** Of a machine that is busy with something else. */
const LONG_MS = 600_000
/** Of a channel whose test is about something else than time. */
export const PATIENT: ChannelOptions = { timeoutMs: LONG_MS, keepAliveMs: LONG_MS, helloMsMax: LONG_MS }

/** How both ends behave. */
export interface EndOptions {
  readonly server?: ServerOptions | undefined
  readonly channel?: ChannelOptions | undefined
}

export interface PairOptions extends EndOptions {
  readonly links?: MemoryLinksOptions
}

/** Over memory of this process. */
export function serverPair(serve: (server: Server) => void, options: PairOptions = {}): Pair {
  return pairOver(memoryLinks(options.links), serve, options)
}

/** Over a link that is there; `close` comes last. Both ends are patient where `options` say nothing else. */
export function pairOver<Link extends MessageLink>(
  [clientLink, serverLink]: readonly [Link, Link],
  serve: (server: Server) => void,
  options: EndOptions,
  close?: () => void,
): Pair<Link> {
  const server = createServer({ keepAliveMs: LONG_MS, ...options.server })
  serve(server)
  server.accept(serverLink)
  const channel = openChannel(clientLink, { ...PATIENT, ...options.channel })
  return {
    server,
    channel,
    clientLink,
    serverLink,
    async [Symbol.asyncDispose]() {
      await channel.close()
      await server.close()
      close?.()
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

import { type IoThread, type ListenOnThreadsOptions, listenOnThreads, type ThreadListener } from '../messaging/index.ts'
import type { Server } from './server.ts'

/** What the module of an IO thread exports. */
export interface ServerThreadModule {
  /** The server of this thread, with its services: `createServer().serve(…)`. Its limits are those of one thread. */
  serve(thread: IoThread): Server | Promise<Server>
}

/**
 * Wait for callers that IO threads serve: each connection belongs to one thread, where its handlers run.
 * `threads.module` exports `serve`, see {@link ServerThreadModule}. Closing the listener drains the servers. What a
 * server keeps for calls that are repeated (`idempotencyKey`) is one thread's: a client that connects again and comes
 * to another one is told as if the server had been started anew.
 * @throws IoThreadError where a thread cannot be started, AffinityError where it may not run on a processor;
 * ArgumentError; ConnectionError.
 */
export function serveOnThreads(options: ListenOnThreadsOptions): Promise<ThreadListener> {
  return listenOnThreads(options, new URL('./thread-role.js', import.meta.url))
}

import {
  type IoThread,
  type ListenOnThreadsOptions,
  listenOnThreads,
  listenOnThreadsNames,
  type ThreadListener,
} from '../messaging/index.ts'
import { checkOptions, mustBe } from '../native/index.ts'
import type { Server } from './server.ts'

/** The exports of an IO thread's module. */
export interface ServerThreadModule {
  /**
   * Make the server of this thread, with its services: `createServer().serve(…)`. Its limits are those of one thread.
   */
  serve(thread: IoThread): Server | Promise<Server>
}

/**
 * Listen for callers that IO threads serve. Each connection belongs to one thread, where its handlers run.
 * `threads.module` exports `serve`, see {@link ServerThreadModule}. Closing the listener drains the servers.
 *
 * The answers kept for repeated calls (`idempotencyKey`) belong to one thread. If a client reconnects to another
 * thread, it is treated as if the server had been restarted.
 * @throws IoThreadError if a thread cannot be started, AffinityError if it may not run on a processor; ArgumentError;
 * ConnectionError.
 */
export async function serveOnThreads(options: ListenOnThreadsOptions): Promise<ThreadListener> {
  if (options === undefined) throw mustBe('options', 'an object such as { threads: { module } }', options)
  checkOptions('serveOnThreads', options, listenOnThreadsNames)
  return listenOnThreads('serveOnThreads', options, new URL('./thread-role.js', import.meta.url))
}

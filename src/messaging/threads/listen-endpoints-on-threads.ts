import type { Endpoint, EndpointOptions } from '../endpoint.ts'
import type { IoThread } from './thread-contract.ts'
import { type ListenOnThreadsOptions, listenOnThreads, type ThreadListener } from './thread-listener.ts'

/** What the module of an IO thread exports. */
export interface EndpointThreadModule {
  /**
   * A client has connected: the place to set its handlers, which are called in this thread. What it throws ends this
   * connection only.
   */
  accept(endpoint: Endpoint, thread: IoThread): void
}

export interface ListenEndpointsOnThreadsOptions
  extends ListenOnThreadsOptions,
    Pick<EndpointOptions, 'messageBytesMax'> {}

/**
 * Wait for connections that IO threads serve: each belongs to one thread, with its device, its queues and its handlers,
 * and the caller's thread only lets them in. `threads.module` exports `accept`, see {@link EndpointThreadModule}.
 * @throws IoThreadError where a thread cannot be started, AffinityError where it may not run on a processor;
 * ArgumentError; ConnectionError.
 */
export function listenEndpointsOnThreads(options: ListenEndpointsOnThreadsOptions): Promise<ThreadListener> {
  return listenOnThreads(options, new URL('./endpoint-role.js', import.meta.url))
}

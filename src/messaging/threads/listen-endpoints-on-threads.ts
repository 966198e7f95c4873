import { checkOptions, mustBe, type OptionNames } from '../../native/index.ts'
import type { Endpoint, EndpointOptions } from '../endpoint.ts'
import type { IoThread } from './thread-contract.ts'
import {
  type ListenOnThreadsOptions,
  listenOnThreads,
  listenOnThreadsNames,
  type ThreadListener,
} from './thread-listener.ts'

/** The exports of an IO thread's module. */
export interface EndpointThreadModule {
  /**
   * A client has connected: set its handlers here; they are called in this thread. If it throws, this connection ends.
   */
  accept(endpoint: Endpoint, thread: IoThread): void
}

export interface ListenEndpointsOnThreadsOptions
  extends ListenOnThreadsOptions,
    Pick<EndpointOptions, 'messageBytesMax'> {}

const names: OptionNames<ListenEndpointsOnThreadsOptions> = { ...listenOnThreadsNames, messageBytesMax: true }

/**
 * Listen for connections that IO threads serve. Each connection belongs to one thread, with its device, its queues and
 * its handlers; the caller's thread only lets it in. `threads.module` exports `accept`, see {@link
 * EndpointThreadModule}.
 * @throws IoThreadError if a thread cannot be started, AffinityError if it may not run on a processor; ArgumentError;
 * ConnectionError.
 */
export async function listenEndpointsOnThreads(options: ListenEndpointsOnThreadsOptions): Promise<ThreadListener> {
  if (options === undefined) throw mustBe('options', 'an object such as { threads: { module } }', options)
  checkOptions('listenEndpointsOnThreads', options, names)
  return listenOnThreads('listenEndpointsOnThreads', options, new URL('./endpoint-role.js', import.meta.url))
}

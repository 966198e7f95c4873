/** What an IO thread does with connections that carry endpoints. Loaded by the thread. */
import { ArgumentError } from '../../native/index.ts'
import { Endpoint, type EndpointOptions } from '../endpoint.ts'
import type { EndpointThreadModule } from './listen-endpoints-on-threads.ts'
import type { IoThread, LinkTaker, ThreadLinkOptions } from './thread-contract.ts'

export function open(module: unknown, thread: IoThread, options: ThreadLinkOptions & EndpointOptions): LinkTaker {
  const { accept } = module as Partial<EndpointThreadModule>
  if (typeof accept !== 'function')
    throw new ArgumentError(
      'threads.module',
      'the module of an IO thread must export a function `accept(endpoint, thread)`',
    )
  const endpoints = new Set<Endpoint>()
  return {
    onLink: (link, peer) => {
      const endpoint = new Endpoint(link, peer.remote, peer.privateData, options)
      endpoints.add(endpoint)
      void endpoint.ended.then(() => endpoints.delete(endpoint))
      accept(endpoint, thread)
    },
    close: async () => {
      await Promise.all([...endpoints].map((endpoint) => endpoint.close()))
    },
  }
}

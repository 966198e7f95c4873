import { ArgumentError } from '../native/index.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'
import { checkedHandlers } from './endpoint-handlers.ts'
import { type LinkListener, type ListenLinksOptions, listenLinks } from './link-listener.ts'

export interface ListenEndpointsOptions extends Omit<ListenLinksOptions, 'onLink' | 'onClientError'>, EndpointOptions {
  /**
   * A client has connected: the place to set its handlers. Messages that come before are kept. What it throws ends this
   * connection only.
   */
  readonly accept: (endpoint: Endpoint) => void
  /**
   * A client was turned away, or went away while it was let in. Others are not concerned. What it throws becomes a
   * warning of the process.
   */
  readonly clientError?: (error: unknown) => void
}

/**
 * Wait for connections; `handlers` are those of each, until `accept` gives it others. Keeps the program alive until it
 * is closed.
 */
export async function listenEndpoints(options: ListenEndpointsOptions): Promise<LinkListener> {
  if (typeof options?.accept !== 'function')
    throw new ArgumentError('accept', "a listener's accept is a function: it is given the endpoint of each client")
  checkedHandlers(options.handlers)
  const { accept, clientError, ...rest } = options
  return listenLinks({
    ...rest,
    ...(clientError === undefined ? {} : { onClientError: clientError }),
    onLink: (link, peer) => accept(new Endpoint(link, peer.remote, peer.privateData, options)),
  })
}

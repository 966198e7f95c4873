import { ArgumentError, checkFunction, checkOptions, type OptionNames } from '../native/index.ts'
import { checkEndpointOptions, Endpoint, type EndpointOptions, endpointNames } from './endpoint.ts'
import { type LinkListener, type ListenLinksOptions, listenNames, openListener } from './link-listener.ts'

export interface ListenEndpointsOptions extends Omit<ListenLinksOptions, 'onLink' | 'onClientError'>, EndpointOptions {
  /** A client has connected: set its handlers here. Earlier messages are kept. If it throws, this connection ends. */
  readonly accept: (endpoint: Endpoint) => void
  /**
   * A client was turned away, or went away while it was let in. Others are not affected. If it throws, the process
   * emits a warning.
   */
  readonly clientError?: (error: unknown) => void
}

const { onClientError: _onClientError, ...placeAndLinkNames } = listenNames
const listenEndpointsNames: OptionNames<ListenEndpointsOptions> = {
  ...placeAndLinkNames,
  ...endpointNames,
  accept: true,
  clientError: true,
}

/**
 * Listen for connections. Each has the `handlers` given here until `accept` sets others. Keeps the program alive until
 * it is closed.
 */
export async function listenEndpoints(options: ListenEndpointsOptions): Promise<LinkListener> {
  checkOptions('listenEndpoints', options, listenEndpointsNames)
  if (typeof options?.accept !== 'function')
    throw new ArgumentError('accept', 'accept must be a function that takes the endpoint of each client')
  checkEndpointOptions(options)
  if (options.clientError !== undefined) checkFunction('clientError', options.clientError, 'that takes the error')
  const { accept, clientError, ...rest } = options
  return openListener({
    ...rest,
    ...(clientError === undefined ? {} : { onClientError: clientError }),
    onLink: (link, peer) => accept(new Endpoint(link, peer.remote, peer.privateData, options)),
  })
}

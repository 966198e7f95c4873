import { type ConnectLinkOptions, connectLink } from './connect-link.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'
import { checkedHandlers } from './endpoint-handlers.ts'

export interface ConnectEndpointOptions extends ConnectLinkOptions, EndpointOptions {
  /**
   * Called once, when the connection is made. If it throws, the connection ends with reason `handler` and the call
   * rejects.
   */
  readonly connected?: (endpoint: Endpoint) => void
}

/**
 * Connect to a listener.
 * @throws ConnectionRejectedError, ConnectionError, TimeoutError after `connectTimeoutMs`, the signal's reason;
 * LinkError `incompatible` if the peer is not an endpoint or speaks another version; what `connected` throws. On
 * failure nothing is left behind.
 */
export async function connectEndpoint(options: ConnectEndpointOptions): Promise<Endpoint> {
  checkedHandlers(options?.handlers)
  const link = await connectLink(options)
  if (options.signal?.aborted === true) {
    // Aborted after the connection came to stand, and before this turn of ours.
    link.destroy()
    throw options.signal.reason
  }
  try {
    const endpoint = new Endpoint(link, `${options.address}:${options.port}`, link.privateData, options)
    options.connected?.(endpoint)
    return endpoint
  } catch (error) {
    link.fail(error)
    throw error
  }
}

import { type ConnectLinkOptions, connectLink } from './connect-link.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'
import { checkedHandlers } from './endpoint-handlers.ts'

export interface ConnectEndpointOptions extends ConnectLinkOptions, EndpointOptions {
  /**
   * Called once, when the connection stands. What it throws ends the connection, with reason `handler`, and rejects the
   * call.
   */
  readonly connected?: (endpoint: Endpoint) => void
}

/**
 * Connect to a listener.
 * @throws ConnectionRejectedError, ConnectionError, TimeoutError after `connectTimeoutMs`, the signal's reason;
 * LinkError `incompatible` where the peer is no endpoint, or one of another version; what `connected` throws. Then
 * nothing is left behind.
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

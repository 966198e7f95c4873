import { type ConnectLinkOptions, connectLink } from './connect-link.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'

export interface ConnectEndpointOptions extends ConnectLinkOptions, EndpointOptions {
  /** Called once, when the connection stands. */
  readonly connected?: (endpoint: Endpoint) => void
}

/**
 * Connect to a listener.
 * @throws ConnectionRejectedError, ConnectionError, TimeoutError after `connectTimeoutMs`, the signal's reason; LinkError `incompatible` where the peer is no endpoint, or one of another version. Then nothing is left behind.
 */
export async function connectEndpoint(options: ConnectEndpointOptions): Promise<Endpoint> {
  const link = await connectLink(options)
  const endpoint = new Endpoint(link, `${options.address}:${options.port}`, link.privateData, options)
  options.connected?.(endpoint)
  return endpoint
}

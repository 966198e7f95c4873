import { checkFunction, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { type ConnectLinkOptions, connectLinkNames, openLink } from './connect-link.ts'
import { checkEndpointOptions, Endpoint, type EndpointOptions, endpointNames } from './endpoint.ts'

export interface ConnectEndpointOptions extends ConnectLinkOptions, EndpointOptions {
  /**
   * Called once, when the connection is made. If it throws, the connection ends with reason `handler` and the call
   * rejects.
   */
  readonly connected?: (endpoint: Endpoint) => void
}

export const connectEndpointNames: OptionNames<ConnectEndpointOptions> = {
  ...connectLinkNames,
  ...endpointNames,
  connected: true,
}

/**
 * Connect to a listener.
 * @throws ConnectionRejectedError, ConnectionError, TimeoutError after `connectTimeoutMs`, the signal's reason;
 * LinkError `incompatible` if the peer is not an endpoint or speaks another version; what `connected` throws. On
 * failure nothing is left behind.
 */
export async function connectEndpoint(options: ConnectEndpointOptions): Promise<Endpoint> {
  if (options === undefined) throw mustBe('options', 'an object such as { address, port }', options)
  checkOptions('connectEndpoint', options, connectEndpointNames)
  return openEndpoint(options)
}

/** The same for callers that have checked the names of their options. */
export async function openEndpoint(options: ConnectEndpointOptions): Promise<Endpoint> {
  checkEndpointOptions(options)
  if (options.connected !== undefined) checkFunction('connected', options.connected, 'that takes the endpoint')
  const link = await openLink(options)
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

import type { OptionNames } from '../native/index.ts'
import type { ConnectLinkOptions, LinkConnectionOptions } from './connect-link.ts'
import type { EndpointOptions } from './endpoint.ts'
import type { ListenLinksOptions, ListenPlace } from './link-listener.ts'
import type { LinkOptions } from './link-options.ts'
import type { ThreadLinkOptions } from './threads/thread-contract.ts'

/** The names of options that several calls share. Each call checks its own, since the one below it knows fewer. */
export const linkNames: OptionNames<LinkOptions> = {
  ringBytes: true,
  peerRingBytesMax: true,
  receives: true,
  sends: true,
  completion: true,
  keepAliveMs: true,
  closeTimeoutMs: true,
  sendLimit: true,
  weight: true,
  priority: true,
  lending: true,
}

const sharedConnectionNames: OptionNames<Omit<LinkConnectionOptions, 'domain'>> = {
  ...linkNames,
  maxReadAtomic: true,
  maxDestinationReadAtomic: true,
  rnrRetry: true,
  ackTimeout: true,
  minRnrTimer: true,
  serviceLevel: true,
  trafficClass: true,
  privateData: true,
}

export const connectLinkNames: OptionNames<ConnectLinkOptions> = {
  address: true,
  port: true,
  ...sharedConnectionNames,
  domain: true,
  device: true,
  connectTimeoutMs: true,
  signal: true,
  retryCount: true,
}

export const placeNames: OptionNames<ListenPlace> = {
  address: true,
  port: true,
  device: true,
  backlog: true,
  signal: true,
}

export const threadLinkNames: OptionNames<ThreadLinkOptions> = {
  ...sharedConnectionNames,
  sharedReceiveQueue: true,
  connectTimeoutMs: true,
}

/** Those of a program that has no callback of its own for links, as a server of rpc. */
export const listenNames: OptionNames<Omit<ListenLinksOptions, 'onLink'>> = {
  ...placeNames,
  ...threadLinkNames,
  domain: true,
  onClientError: true,
}

export const endpointNames: OptionNames<EndpointOptions> = { handlers: true, messageBytesMax: true }

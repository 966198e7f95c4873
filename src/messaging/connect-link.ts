import { type Connection, type ConnectionOptions, ConnectionRejectedError, connect, resolve } from '../cm/index.ts'
import {
  ArgumentError,
  checkInstance,
  checkOptions,
  checkSignalKind,
  mustBe,
  type OptionNames,
  shown,
  TIMER_MS_MAX,
} from '../native/index.ts'
import { checkAttached, ProtectionDomain } from '../verbs/index.ts'
import { DeviceContext } from './device-context.ts'
import { LinkError } from './errors.ts'
import { HELLO_BYTES } from './hello.ts'
import { LinkEnd } from './link-end.ts'
import { type LinkOptions, type LinkSettings, linkNames, linkSettings } from './link-options.ts'
import { linkOverPair } from './link-over-pair.ts'
import { refusalOf } from './refusal.ts'
import type { VerbsLink } from './verbs-link.ts'

/** Options of the connection below a link, at both ends. */
export interface LinkConnectionOptions
  extends LinkOptions,
    Pick<
      ConnectionOptions,
      | 'maxReadAtomic'
      | 'maxDestinationReadAtomic'
      | 'rnrRetry'
      | 'ackTimeout'
      | 'minRnrTimer'
      | 'serviceLevel'
      | 'trafficClass'
      | 'privateData'
    > {
  /**
   * A protection domain of your own, for memory and devices that you made yourself. Default: one for all connections
   * over that device.
   */
  readonly domain?: ProtectionDomain
}

export interface ConnectLinkOptions extends LinkConnectionOptions {
  /** The address of the listener: a numeric IPv4 or IPv6 address, or a name. */
  readonly address: string
  readonly port: number
  /** Default: the device that leads to the address, or `shm0` on a machine without RDMA devices. */
  readonly device?: string
  /** How long to wait for the peer's answer; default 10,000. */
  readonly connectTimeoutMs?: number
  readonly signal?: AbortSignal
  /** Retries without an acknowledgement, 0 to 7; default 6. */
  readonly retryCount?: number
}

/** The names without `domain`, which not every call takes. */
export const linkConnectionNames: OptionNames<Omit<LinkConnectionOptions, 'domain'>> = {
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
  ...linkConnectionNames,
  domain: true,
  device: true,
  connectTimeoutMs: true,
  signal: true,
  retryCount: true,
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000

/**
 * The most bytes of the program's private data with `connect`, and with the answer. The rest of the field belongs to
 * this room.
 */
export const PRIVATE_DATA_BYTES: { readonly connect: number; readonly accept: number } = {
  connect: 56 - HELLO_BYTES,
  accept: 196 - HELLO_BYTES,
}

/**
 * The settings of the link from the options. @throws ArgumentError for wrong values, as far as known without the
 * device.
 */
export function connectSettings(options: ConnectLinkOptions): LinkSettings {
  if (typeof options?.address !== 'string' || options.address === '')
    throw new ArgumentError('address', 'address must be a numeric IPv4 or IPv6 address, or a name')
  const { port, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, privateData } = options
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw new ArgumentError(
      'port',
      `port must be an integer from 1 to 65535, not ${shown(port)}; pass the port of the listener`,
    )
  if (!(typeof connectTimeoutMs === 'number' && connectTimeoutMs > 0 && connectTimeoutMs <= TIMER_MS_MAX))
    throw mustBe('connectTimeoutMs', `more than 0 and at most ${TIMER_MS_MAX}`, connectTimeoutMs)
  if (privateData !== undefined) checkPrivateData(privateData, PRIVATE_DATA_BYTES.connect)
  return linkSettings(options)
}

/**
 * Connect to a listener of links.
 * @throws ConnectionRejectedError, ConnectionError, TimeoutError after `connectTimeoutMs`, the signal's reason;
 * LinkError `incompatible` or `full`. On failure nothing is left behind.
 */
export async function connectLink(options: ConnectLinkOptions): Promise<VerbsLink> {
  checkOptions('connectLink', options, connectLinkNames)
  return openLink(options)
}

/** The same for callers that have checked the names of their options, which are more than those of a link. */
export async function openLink(options: ConnectLinkOptions): Promise<VerbsLink> {
  const settings = connectSettings(options)
  checkSignalKind('signal', options.signal)
  checkDomain(options.domain)
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, signal, privateData, address, port } = options
  const deadline = performance.now() + connectTimeoutMs
  const wait = (): { timeoutMs: number; signal?: AbortSignal } => ({
    timeoutMs: Math.max(1, deadline - performance.now()),
    ...(signal === undefined ? {} : { signal }),
  })
  const deviceName =
    options.device ?? options.domain?.device.name ?? (await resolve(address, { port, ...wait() })).deviceName
  const context = DeviceContext.acquire(options.domain ?? deviceName)
  let end: LinkEnd | undefined
  try {
    end = new LinkEnd(context, settings)
    const connection = await connect({
      ...connectionOptions(options, end, withHello(end, privateData ?? new Uint8Array(0), PRIVATE_DATA_BYTES.connect)),
      ...(options.retryCount === undefined ? {} : { retryCount: options.retryCount }),
      ...wait(),
      address,
      port,
      device: deviceName,
    })
    return linkOver(connection, end, context)
  } catch (error) {
    end?.close()
    context.release()
    throw error instanceof ConnectionRejectedError ? (refusalOf(error.privateData) ?? error) : error
  }
}

/** The options of cm for a connection that carries a link. */
export function connectionOptions(
  options: LinkConnectionOptions,
  end: LinkEnd,
  privateData: Uint8Array,
): ConnectionOptions {
  const { maxReadAtomic, maxDestinationReadAtomic, rnrRetry, ackTimeout, minRnrTimer } = options
  const { serviceLevel, trafficClass } = options
  return {
    ...end.pairOptions,
    domain: end.domain,
    privateData,
    prepare: (pair) => end.prepare(pair),
    ...(maxReadAtomic === undefined ? {} : { maxReadAtomic }),
    ...(maxDestinationReadAtomic === undefined ? {} : { maxDestinationReadAtomic }),
    ...(rnrRetry === undefined ? {} : { rnrRetry }),
    ...(ackTimeout === undefined ? {} : { ackTimeout }),
    ...(minRnrTimer === undefined ? {} : { minRnrTimer }),
    ...(serviceLevel === undefined ? {} : { serviceLevel }),
    ...(trafficClass === undefined ? {} : { trafficClass }),
  }
}

/** This room's own private data, followed by the program's. */
export function withHello(end: LinkEnd, privateData: Uint8Array, most: number): Uint8Array {
  checkPrivateData(privateData, most)
  const bytes = new Uint8Array(HELLO_BYTES + privateData.length)
  bytes.set(end.hello)
  bytes.set(privateData, HELLO_BYTES)
  return bytes
}

/** @throws ArgumentError unless it is at most `most` bytes. */
export function checkPrivateData(privateData: Uint8Array, most: number): void {
  checkAttached('privateData', privateData)
  if (privateData.length > most)
    throw new ArgumentError(
      'privateData',
      `privateData has at most ${most} bytes here, not ${privateData.length}; send the rest as a message`,
    )
}

/** @throws ArgumentError unless it is a domain, or not given. */
export function checkDomain(domain: ProtectionDomain | undefined): void {
  if (domain !== undefined)
    checkInstance('domain', domain, ProtectionDomain, 'as device.createProtectionDomain() returns')
}

/** Make a link over a new connection; if that fails, the connection is closed. */
export function linkOver(connection: Connection, end: LinkEnd, context: DeviceContext): VerbsLink {
  const { remote, privateData, pair } = connection
  const close = (): void => {
    try {
      connection.close()
    } catch {
      // A peer was stopped in the middle of an access to it: with the second try it is not waited for.
      pair.close()
    }
  }
  const peerText = remote && `${remote.address}:${remote.port}`
  const link = linkOverPair({ pair, said: privateData, peerText, close }, end, context)
  void connection.closed.then((reason) => link.lose(endText(reason)))
  return link
}

function endText(reason: string): string {
  if (reason === 'peer') return 'the peer took the connection down without closing the link'
  if (reason === 'device-removed') return 'the device of the connection was removed'
  return reason === 'local'
    ? 'the connection was taken down'
    : "the peer's process has ended, or its machine cannot be reached"
}

/** Narrow an error of `connectLink` or `accept`. */
export function isIncompatible(error: unknown): error is LinkError {
  return error instanceof LinkError && error.reason === 'incompatible'
}

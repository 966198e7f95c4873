import type { ConnectionRequest } from '../cm/index.ts'
import { ArgumentError, checkWhole, type OptionNames } from '../native/index.ts'
import {
  checkDomain,
  checkPrivateData,
  connectionOptions,
  type LinkConnectionOptions,
  linkConnectionNames,
  linkOver,
  PRIVATE_DATA_BYTES,
  withHello,
} from './connect-link.ts'
import { DeviceContext } from './device-context.ts'
import type { LinkError } from './errors.ts'
import { decodeHello, HELLO_BYTES } from './hello.ts'
import { LinkEnd } from './link-end.ts'
import { type LinkSettings, linkSettings, SHARING_DEFAULTS } from './link-options.ts'
import type { SharedReceiveOptions } from './receive-shares.ts'
import { encodeFull, fullError } from './refusal.ts'
import { SharedReceivePools } from './shared-receive-pools.ts'
import { tellProgram } from './tell-program.ts'
import type { VerbsLink } from './verbs-link.ts'

/** A peer that has connected. */
export interface LinkPeer {
  /** `address:port`, or undefined if the connection manager does not know it. */
  readonly remote: string | undefined
  /** The private data that it passed to `connect`, padded with zeros. */
  readonly privateData: Uint8Array
}

/** How connecting peers are let in. */
export interface AdmissionOptions extends LinkConnectionOptions {
  /**
   * Have all connections share one receive queue and one completion queue; for many connections that are mostly silent.
   * `receives` is then the pool's. `ringBytes` and `peerRingBytesMax` default to 16 KiB and `sends` to 16. Default:
   * queues of its own for each connection.
   */
  readonly sharedReceiveQueue?: SharedReceiveOptions
  /** How long an accepted peer may take to be connected, too; default 10,000. */
  readonly connectTimeoutMs?: number
  /** A connection was made. Messages wait until the link's `onMessage` is set. */
  readonly onLink: (link: VerbsLink, peer: LinkPeer) => void
  /**
   * A client was turned away, or went away while it was let in. Others are not affected. If it throws, the process
   * emits a warning.
   */
  readonly onClientError?: (error: unknown) => void
}

/** The names of those that another thread can be given, too. */
export const admissionNames: OptionNames<Omit<AdmissionOptions, 'onLink' | 'onClientError' | 'domain'>> = {
  ...linkConnectionNames,
  sharedReceiveQueue: true,
  connectTimeoutMs: true,
}

/** Numbers of a connection. They have bytes for them there, and most have a limit of their own. */
const CONNECTION_NUMBERS = [
  'maxReadAtomic',
  'maxDestinationReadAtomic',
  'rnrRetry',
  'ackTimeout',
  'minRnrTimer',
  'serviceLevel',
  'trafficClass',
] as const

/** The options of each connection, and what all share. @throws ArgumentError */
export interface Admission {
  readonly settings: LinkSettings
  readonly pools: SharedReceivePools | undefined
}

/** Check what is used when a peer connects: then only `onClientError` would learn of it. @throws ArgumentError */
function checkConnectionOptions(options: Omit<AdmissionOptions, 'onLink'>): void {
  const { connectTimeoutMs, privateData } = options
  if (connectTimeoutMs !== undefined) checkWhole('connectTimeoutMs', connectTimeoutMs, 1, 2 ** 31 - 1)
  if (privateData !== undefined) checkPrivateData(privateData, PRIVATE_DATA_BYTES.accept)
  checkDomain(options.domain)
  for (const name of CONNECTION_NUMBERS) if (options[name] !== undefined) checkWhole(name, options[name], 0, 255)
}

/** Check the options. @throws ArgumentError for wrong ones. */
export function admissionOf(options: Omit<AdmissionOptions, 'onLink'>): Admission {
  const { sharedReceiveQueue } = options
  checkConnectionOptions(options)
  if (sharedReceiveQueue === undefined) return { settings: linkSettings(options), pools: undefined }
  if (options.receives !== undefined)
    throw new ArgumentError(
      'receives',
      'connections that share a queue have no receives of their own; leave out `receives`',
    )
  const settings = linkSettings(options, SHARING_DEFAULTS)
  return { settings, pools: new SharedReceivePools(sharedReceiveQueue, settings) }
}

/** Let a peer in, or turn it away and call `onClientError`. Never rejects. */
export async function admitLink(
  request: ConnectionRequest,
  options: AdmissionOptions,
  admission: Admission,
): Promise<void> {
  try {
    await letIn(request, options, admission)
  } catch (error) {
    tellProgram(() => options.onClientError?.(error))
  }
}

async function letIn(request: ConnectionRequest, options: AdmissionOptions, admission: Admission): Promise<void> {
  try {
    decodeHello(request.privateData)
  } catch (error) {
    request.reject()
    throw error
  }
  const link = await accept(request, options, admission)
  const peer = { remote: textOf(request), privateData: request.privateData.subarray(HELLO_BYTES) }
  try {
    options.onLink(link, peer)
  } catch (error) {
    link.destroy()
    throw error
  }
}

async function accept(
  request: ConnectionRequest,
  options: AdmissionOptions,
  { settings, pools }: Admission,
): Promise<VerbsLink> {
  const { connectTimeoutMs = 10_000, privateData } = options
  let context: DeviceContext | undefined
  let end: LinkEnd | undefined
  try {
    context = DeviceContext.acquire(options.domain ?? request.deviceName)
    const place = await pools?.of(context).join()
    if (pools !== undefined && place === undefined) throw turnAway(request, pools.options.connectionsMax)
    end = new LinkEnd(context, settings, place)
    const own = withHello(end, privateData ?? new Uint8Array(0), PRIVATE_DATA_BYTES.accept)
    const connection = await request.accept({
      ...connectionOptions(options, end, own),
      timeoutMs: connectTimeoutMs,
    })
    return linkOver(connection, end, context)
  } catch (error) {
    request.reject()
    end?.close()
    context?.release()
    throw error
  }
}

/** Say that there is no place for it. */
function turnAway(request: ConnectionRequest, connectionsMax: number): LinkError {
  request.reject(encodeFull(connectionsMax))
  return fullError(connectionsMax)
}

function textOf({ remote }: ConnectionRequest): string | undefined {
  return remote === undefined ? undefined : `${remote.address}:${remote.port}`
}

import type { ConnectionRequest } from '../cm/index.ts'
import {
  connectionOptions,
  type LinkConnectionOptions,
  linkOver,
  PRIVATE_DATA_BYTES,
  withHello,
} from './connect-link.ts'
import { DeviceContext } from './device-context.ts'
import { decodeHello, HELLO_BYTES } from './hello.ts'
import { LinkEnd } from './link-end.ts'
import type { LinkSettings } from './link-options.ts'
import type { VerbsLink } from './verbs-link.ts'

/** Who has connected. */
export interface LinkPeer {
  /** `address:port`, or undefined where the connection manager does not say. */
  readonly remote: string | undefined
  /** What it gave to `connect`, filled up with zeros. */
  readonly privateData: Uint8Array
}

/** How those are let in who want to connect. */
export interface AdmissionOptions extends LinkConnectionOptions {
  /** Until a peer that was accepted is connected, too; default 10,000. */
  readonly connectTimeoutMs?: number
  /** A connection was made. Messages wait until the link's `onMessage` is set. */
  readonly onLink: (link: VerbsLink, peer: LinkPeer) => void
  /** A client was turned away, or went away while it was let in. Others are not concerned. */
  readonly onClientError?: (error: unknown) => void
}

/** Let one in, or turn it away and tell `onClientError`. Never rejects. */
export async function admitLink(
  request: ConnectionRequest,
  options: AdmissionOptions,
  settings: LinkSettings,
): Promise<void> {
  try {
    await letIn(request, options, settings)
  } catch (error) {
    options.onClientError?.(error)
  }
}

async function letIn(request: ConnectionRequest, options: AdmissionOptions, settings: LinkSettings): Promise<void> {
  try {
    decodeHello(request.privateData, settings.peerRingBytesMax)
  } catch (error) {
    request.reject()
    throw error
  }
  const link = await accept(request, options, settings)
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
  settings: LinkSettings,
): Promise<VerbsLink> {
  const { connectTimeoutMs = 10_000, privateData } = options
  let context: DeviceContext | undefined
  let end: LinkEnd | undefined
  try {
    context = DeviceContext.acquire(options.domain ?? request.deviceName)
    end = new LinkEnd(context, settings)
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

function textOf({ remote }: ConnectionRequest): string | undefined {
  return remote === undefined ? undefined : `${remote.address}:${remote.port}`
}

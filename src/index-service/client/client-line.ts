import { connectLink } from '../../messaging/index.ts'
import { type Client, openChannel } from '../../rpc/index.ts'
import { CALL_BYTES_MAX, indexService, type Place } from '../node/index-contract.ts'

export type NodeClient = Client<typeof indexService>

/** A connection to a node. */
export interface ClientLine {
  readonly client: NodeClient
  /** Take what has come. */
  poll(): void
  /** All calls that wait for answers end with that error. */
  destroy(error: Error): void
  /** After the answers that are waited for. */
  close(): Promise<void>
}

/** Connects to the node at a place; rejects if none is there, or not in time. */
export type ConnectLine = (place: Place, signal: AbortSignal) => Promise<ClientLine>

export const connectLine: ConnectLine = async ({ device, address, port }, signal) => {
  const link = await connectLink({ address, port, signal, ...(device === undefined ? {} : { device }) })
  const channel = openChannel(link, { bodyBytesMax: CALL_BYTES_MAX })
  return {
    client: channel.client(indexService),
    poll: () => link.poll(),
    destroy: (error) => link.destroy(error),
    close: () => channel.close(),
  }
}

import { ArgumentError, mustBe } from '../native/index.ts'
import type { PortSpace } from './carrier.ts'

/** The calls that carry private data. */
export type PrivateDataUse = 'connect' | 'accept' | 'reject'

/**
 * The most bytes of private data over InfiniBand and RoCE: rdma_connect(3), rdma_accept(3). For rejecting, it is the
 * field of the REJ message (IBA specification volume 1, 12.6.7) or of the SIDR reply. The shm carrier keeps the same
 * limits.
 */
export const PRIVATE_DATA_BYTES_MAX: Readonly<Record<PortSpace, Readonly<Record<PrivateDataUse, number>>>> = {
  tcp: { connect: 56, accept: 196, reject: 148 },
  udp: { connect: 180, accept: 136, reject: 136 },
}

/** Return a checked copy, since the caller may go on writing while the message waits. */
export function checkedPrivateData(
  data: Uint8Array | undefined,
  portSpace: PortSpace,
  use: PrivateDataUse,
): Uint8Array {
  const most = PRIVATE_DATA_BYTES_MAX[portSpace][use]
  if (data === undefined) return new Uint8Array(0)
  if (!(data instanceof Uint8Array)) throw mustBe('privateData', 'a Uint8Array', data)
  if (data.byteLength > most) {
    throw new ArgumentError(
      'privateData',
      `${use} carries at most ${most} bytes of private data, not ${data.byteLength}; send the rest over the connection`,
    )
  }
  // A buffer that was transferred away is empty, and cannot be iterated.
  return data.byteLength === 0 ? new Uint8Array(0) : Uint8Array.from(data)
}

/** Return the whole field as the peer sees it: the sender's bytes, padded with zeros. */
export function paddedPrivateData(data: Uint8Array, portSpace: PortSpace, use: PrivateDataUse): Uint8Array {
  const field = new Uint8Array(PRIVATE_DATA_BYTES_MAX[portSpace][use])
  field.set(data)
  return field
}

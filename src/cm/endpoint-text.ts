import { ArgumentError } from '../native/index.ts'
import type { RemoteEndpoint } from '../verbs/index.ts'

/** The length of what {@link encodeEndpoint} gives: fixed, so that it can be read from a stream without a frame. */
export const ENDPOINT_TEXT_LENGTH = 51

const PATTERN = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})$/i

/**
 * Where a queue pair is reached, as text: LID, queue pair number, first packet number and GID in hexadecimal, with
 * colons between. It is what the pingpong programs of rdma-core (ibv_rc_pingpong(1)) tell each other over their TCP
 * socket (there a zero byte follows), so they can be the other end.
 */
export function encodeEndpoint(endpoint: RemoteEndpoint): string {
  const { localIdentifier = 0, queuePairNumber, psn, gid } = endpoint
  return [hex(localIdentifier, 4), hex(queuePairNumber, 6), hex(psn, 6), hex(gid, 32)].join(':')
}

/** The inverse of {@link encodeEndpoint}. @throws ArgumentError for anything else: it came from a peer. */
export function decodeEndpoint(text: string): RemoteEndpoint {
  const fields = PATTERN.exec(text)
  if (fields === null) {
    const shown = JSON.stringify(text.slice(0, ENDPOINT_TEXT_LENGTH))
    throw new ArgumentError(
      'text',
      `an endpoint is "lid:queue pair:psn:gid" in 4, 6, 6 and 32 hexadecimal digits, not ${shown}`,
    )
  }
  const [, lid = '', number = '', psn = '', gid = ''] = fields
  const localIdentifier = Number.parseInt(lid, 16)
  const endpoint = {
    queuePairNumber: Number.parseInt(number, 16),
    psn: Number.parseInt(psn, 16),
    gid: BigInt(`0x${gid}`),
  }
  return localIdentifier === 0 ? endpoint : { ...endpoint, localIdentifier }
}

function hex(value: number | bigint, digits: number): string {
  const text = value.toString(16)
  if (value < 0 || text.length > digits || !/^[0-9a-f]+$/.test(text))
    throw new ArgumentError('endpoint', `${value} does not fit into ${digits} hexadecimal digits of an endpoint`)
  return text.padStart(digits, '0')
}

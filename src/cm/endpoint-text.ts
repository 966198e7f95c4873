import { checkWhole, mustBe } from '../native/index.ts'
import type { RemoteEndpoint } from '../verbs/index.ts'
import { checkGid } from './identifier-arguments.ts'

/** The fixed length of the text from {@link encodeEndpoint}, so that it can be read from a stream without framing. */
export const ENDPOINT_TEXT_LENGTH = 51

const PATTERN = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})$/i

/**
 * Encode the endpoint of a queue pair as text: LID, queue pair number, first packet sequence number and GID in
 * hexadecimal, separated by colons. The pingpong programs of rdma-core (ibv_rc_pingpong(1)) exchange the same text over
 * TCP, followed by a zero byte. So they can be the other end.
 */
export function encodeEndpoint(endpoint: RemoteEndpoint): string {
  if (typeof endpoint !== 'object' || endpoint === null)
    throw mustBe('endpoint', 'that of a queue pair, such as pair.endpoint', endpoint)
  const { localIdentifier = 0, queuePairNumber, psn, gid } = endpoint
  checkWhole('endpoint.localIdentifier', localIdentifier, 0, 0xffff)
  checkWhole('endpoint.queuePairNumber', queuePairNumber, 0, 0xffffff)
  checkWhole('endpoint.psn', psn, 0, 0xffffff)
  checkGid('endpoint.gid', gid)
  return [hex(localIdentifier, 4), hex(queuePairNumber, 6), hex(psn, 6), hex(gid, 32)].join(':')
}

/**
 * Decode the text of {@link encodeEndpoint}. @throws ArgumentError for anything else, since the text came from a peer.
 */
export function decodeEndpoint(text: string): RemoteEndpoint {
  const fields = typeof text === 'string' ? PATTERN.exec(text) : null
  if (fields === null) throw mustBe('text', '"lid:number:psn:gid" in 4, 6, 6 and 32 hexadecimal digits', text)
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
  return value.toString(16).padStart(digits, '0')
}

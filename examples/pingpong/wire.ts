/**
 * What rdma-core's ping-pong programs exchange over TCP before they connect. For each queue pair it is a text of fixed
 * length, `lid:number:psn:gid` in hexadecimal digits, and a zero byte. The client sends first, and sends `done` when it
 * has read the answer.
 */
import type { RemoteEndpoint } from 'aether-dsm/verbs'

/** 4 + 6 + 6 + 32 digits, three colons and the zero byte. */
export const ADDRESS_BYTES = 52
export const FAREWELL = 'done\0'

export function encodeAddress({ localIdentifier = 0, queuePairNumber, psn, gid }: RemoteEndpoint): Buffer {
  const digits = (value: number | bigint, count: number): string => value.toString(16).padStart(count, '0')
  const fields = [digits(localIdentifier, 4), digits(queuePairNumber, 6), digits(psn, 6), digits(gid, 32)]
  return Buffer.from(`${fields.join(':')}\0`, 'latin1')
}

/** Throws if the bytes are not an address. */
export function decodeAddress(bytes: Uint8Array): RemoteEndpoint {
  const text = Buffer.from(bytes).toString('latin1')
  const fields = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0$/.exec(text)
  if (fields === null) throw new Error(`not an address of a ping-pong program: ${JSON.stringify(text)}`)
  const [, localIdentifier, queuePairNumber, psn, gid] = fields
  return {
    localIdentifier: Number.parseInt(localIdentifier!, 16),
    queuePairNumber: Number.parseInt(queuePairNumber!, 16),
    psn: Number.parseInt(psn!, 16),
    gid: BigInt(`0x${gid}`),
  }
}

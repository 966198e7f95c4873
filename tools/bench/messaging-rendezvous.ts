import type { Endpoint } from 'aether-dsm/internal/messaging'
import { repeated } from './pipes/pipe-rows.ts'
import { type BenchRow, rowOf } from './row.ts'

/** Shorter ones go in the ring. */
export const RENDEZVOUS_MESSAGE_BYTES_MIN = 65_536
/** A ring that takes no message so long. */
export const RENDEZVOUS_RING_BYTES = 65_536

/** What is measured of messages that the ring does not take. */
export interface RendezvousMeasuring {
  readonly endpoint: Endpoint
  readonly provider: string
  readonly bytes: number
  readonly timeMs: number
  /** Of the other end. */
  readonly pid: number
}

/**
 * The time of a message too long for the ring, until its receiver has fetched it and said so. There is one at a time,
 * and both ends are in their event loops. `rendezvous` sends bytes of the program, which are first copied into
 * registered memory. `rendezvous-placed` sends bytes that are already in registered memory.
 */
export async function rendezvousRows(measuring: RendezvousMeasuring): Promise<BenchRow[]> {
  const { endpoint, bytes } = measuring
  if (bytes <= endpoint.link.messageBytesMax) throw new Error(`${bytes} bytes go through the ring`)
  const data = new Uint8Array(bytes).fill(1)
  using buffer = endpoint.allocate(bytes)
  return [
    await rowOfSends('rendezvous', measuring, () => endpoint.send(data)),
    await rowOfSends('rendezvous-placed', measuring, () => endpoint.send({ buffer, length: bytes })),
  ]
}

async function rowOfSends(
  op: string,
  { provider, bytes, timeMs, pid }: RendezvousMeasuring,
  send: () => Promise<void>,
): Promise<BenchRow> {
  return rowOf(op, provider, bytes, await repeated(send, 1, timeMs, [pid]))
}

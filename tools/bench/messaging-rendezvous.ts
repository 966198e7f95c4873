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
 * A message that is too long for the ring, until its receiver has fetched it and said so; one at a time, both ends in
 * their event loops. `rendezvous`: from bytes of the program, which are copied into registered memory first;
 * `rendezvous-placed`: from registered memory, where they lie already.
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

import { native } from 'aether-dsm/internal/native'
import type { RdmaBuffer } from 'aether-dsm/internal/rpc'
import { type Lane, laneRow, runLanes, warmLanes } from './lanes.ts'
import { nextMark } from './messages.ts'
import type { BenchRow } from './row.ts'
import type { RpcPeer } from './rpc-peer.ts'
import { FILLED } from './rpc-service.ts'

/** Payloads of calls with buffers unless others are asked for, in bytes. */
export const defaultRendezvousSizes: readonly number[] = [65_536, 262_144, 1_048_576, 4_194_304]
/** Shorter ones go in the body. */
export const RENDEZVOUS_BYTES_MIN = 65_536

/** What each is held against: the same bytes, the same way, in the body of a call. */
export const rendezvousBaselines: Readonly<Record<string, string>> = {
  'rdma-source': 'body-request',
  'rdma-target': 'body-answer',
}

/**
 * One way only, one call at a time, both ends in their event loops. `rdma-source`: the server reads the bytes out of a
 * buffer of the caller's into one of its own; `rdma-target`: it writes them there. `body-request` and `body-answer`:
 * the same bytes in the body of a call.
 */
export async function benchRendezvous(
  peer: RpcPeer,
  sizes: readonly number[],
  timeMs: number,
  keep: (row: BenchRow) => void,
): Promise<void> {
  for (const bytes of sizes) {
    await using buffer = await peer.allocate(bytes)
    const ways = waysOf(peer, buffer)
    for (const [op, lane] of Object.entries(ways)) keep(await rowOfLane(op, peer, bytes, timeMs, lane))
  }
}

/** Each fails where the bytes have not come. */
function waysOf({ client }: RpcPeer, buffer: RdmaBuffer): Readonly<Record<string, Lane>> {
  const { bytes, length } = buffer
  const last = length - 1
  const data = new Uint8Array(length).fill(FILLED)
  const wanted = Buffer.alloc(4)
  wanted.writeUInt32LE(length)
  let mark = 0
  const marked = (memory: Uint8Array): Uint8Array => {
    mark = nextMark(mark)
    memory[last] = mark
    return memory
  }
  return {
    'rdma-source': async () => {
      marked(bytes)
      checkLast(await client.fetch(undefined, { source: buffer }), mark)
    },
    'body-request': async () => checkLast((await client.take(marked(data)))[0], mark),
    'rdma-target': async () => {
      bytes[last] = 0
      await client.store(undefined, { target: buffer })
      checkLast(bytes[last], FILLED)
    },
    'body-answer': async () => checkLast((await client.give(wanted))[last], FILLED),
  }
}

/** @throws Error where the last byte is not that of what was sent. */
function checkLast(byte: number | undefined, sent: number): void {
  if (byte !== sent) throw new Error('the bytes of the call have not come')
}

async function rowOfLane(op: string, peer: RpcPeer, bytes: number, timeMs: number, lane: Lane): Promise<BenchRow> {
  await warmLanes([lane], timeMs)
  const cpuBefore = native.processorNs(true) + (await peer.remoteCpuNs())
  const run = await runLanes([lane], timeMs)
  const cpuNs = native.processorNs(true) + (await peer.remoteCpuNs()) - cpuBefore
  return laneRow({ op, provider: peer.provider, bytes }, [run], cpuNs)
}

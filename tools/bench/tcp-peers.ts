import { TcpFloor } from './floor/tcp-floor.ts'
import type { OnMissing, PeerName } from './peers/peer-name.ts'
import { ucxProvider } from './peers/ucx-perftest.ts'
import { ucxRow } from './peers/ucx-row.ts'
import { unlessMissing } from './peers/unless-missing.ts'
import type { BenchRow } from './row.ts'

interface TcpPeers {
  readonly sizes: readonly number[]
  readonly timeMs: number
  readonly peers: readonly PeerName[]
  readonly onMissing: OnMissing | undefined
  readonly keep: (row: Promise<BenchRow>) => Promise<void>
}

/** What a device over TCP is held against: sockets of the same run in C, and UCX over the same loopback. */
export async function tcpLatencyPeers({ sizes, timeMs, peers, onMissing, keep }: TcpPeers): Promise<void> {
  if (peers.includes('C'))
    await unlessMissing('C', onMissing, async () => {
      using floor = new TcpFloor()
      for (const exchange of ['spinning', 'blocking'] as const)
        for (const bytes of sizes) await keep(floor.row('write-seen', exchange, bytes, timeMs))
    })
  if (peers.includes('UCX'))
    await unlessMissing('UCX', onMissing, async () => {
      const provider = `${await ucxProvider()} tcp`
      for (const bytes of sizes) await keep(ucxRow('send', provider, 'tag_lat', bytes, timeMs, 'tcp'))
    })
}

/** The same for many messages under way. */
export async function tcpBandwidthPeers({ sizes, timeMs, peers, onMissing, keep }: TcpPeers): Promise<void> {
  if (peers.includes('C'))
    await unlessMissing('C', onMissing, async () => {
      using floor = new TcpFloor()
      for (const bytes of sizes) await keep(floor.row('write', 'stream', bytes, timeMs))
    })
  if (peers.includes('UCX'))
    await unlessMissing('UCX', onMissing, async () => {
      const provider = `${await ucxProvider()} tcp`
      for (const bytes of sizes) await keep(ucxRow('send', provider, 'tag_bw', bytes, timeMs, 'tcp'))
    })
}

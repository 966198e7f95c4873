import { benchIpc, benchMemcpy } from './baselines.ts'
import { DEFAULT_TIME_MS, defaultSizes, oneSidedRequest, type PeersBenchOptions } from './latency.ts'
import { BenchLink } from './link.ts'
import { measure } from './measure.ts'
import { WINDOW } from './messages.ts'
import { peerNames } from './peers/peer-name.ts'
import { type BenchRow, rowOf, withBaselines } from './row.ts'
import { tcpBandwidthPeers } from './tcp-peers.ts'
import { bothWays } from './two-directional.ts'
import { windowsOf } from './windows.ts'

const ATOMIC_BYTES = 8

/**
 * Throughput with many operations outstanding. Each window of 32 has one completion and the rest is unsignaled, as a
 * program would post for throughput. SEND goes one way to a receiver that spins. In `write-both` and `read-both` both
 * ends run windows at the same time.
 */
export async function benchBandwidth(options: PeersBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const { peers = peerNames, onMissing } = options
  const link = await BenchLink.open(device, Math.max(...sizes, ATOMIC_BYTES))
  const rows: BenchRow[] = []
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await row)
    onRow?.(rows.at(-1)!)
  }
  try {
    for (const bytes of sizes) await keep(oneSided('write', link, bytes, timeMs))
    for (const bytes of sizes) await keep(oneSided('read', link, bytes, timeMs))
    await keep(oneSided('fetch-add', link, ATOMIC_BYTES, timeMs))
    await keep(oneSided('compare-swap', link, ATOMIC_BYTES, timeMs))
    for (const bytes of sizes) await keep(stream(link, bytes, timeMs))
    for (const bytes of sizes) await keep(bothWays('write', link, bytes, timeMs))
    for (const bytes of sizes) await keep(bothWays('read', link, bytes, timeMs))
    for (const bytes of sizes) await keep(benchMemcpy(bytes, timeMs))
    for (const bytes of sizes) await keep(benchIpc(link, bytes, timeMs))
    const { provider } = link.device.attributes
    if (provider === 'tcp') await tcpBandwidthPeers({ sizes, timeMs, peers, onMissing, keep })
    return withBaselines(rows, provider, { 'write-both': 'write', 'read-both': 'read' })
  } finally {
    link.close()
  }
}

async function oneSided(
  op: 'write' | 'read' | 'fetch-add' | 'compare-swap',
  link: BenchLink,
  bytes: number,
  timeMs: number,
): Promise<BenchRow> {
  const request = oneSidedRequest(op, link, bytes)
  const windows = windowsOf(request, link)
  const measurement = await measure(windows, timeMs, () => link.remoteCpuNs())
  return rowOf(op, link.device.attributes.provider, bytes, measurement, WINDOW)
}

/** Messages one way, as many as the receiver takes. */
async function stream(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const send = link.pair.prepareSend({ local: link.memory.subarray(0, bytes) })
  const windows = windowsOf(send, link)
  const { value, remoteNs } = await link.serving('sink', bytes, () => measure(windows, timeMs, async () => 0))
  const measuredNs = value.batchNs.reduce((sum, ns) => sum + ns, 0)
  const measurement = { ...value, cpuNs: value.cpuNs + Math.min(remoteNs, measuredNs) }
  return rowOf('send', link.device.attributes.provider, bytes, measurement, WINDOW)
}

import { benchIpc, benchMemcpy } from './baselines.ts'
import { type BenchOptions, DEFAULT_TIME_MS, defaultSizes, oneSidedRequest } from './latency.ts'
import { BenchLink } from './link.ts'
import { measure } from './measure.ts'
import { SEND_DEPTH } from './messages.ts'
import { type BenchRow, rowOf } from './row.ts'

const WINDOW = SEND_DEPTH / 2
const ATOMIC_BYTES = 8

/**
 * How much goes through with many operations outstanding: one completion for each window of 32, the rest unsignaled, as a program that
 * wants throughput would post. SEND goes one way to a receiver that spins.
 */
export async function benchBandwidth(options: BenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const link = await BenchLink.open(device, Math.max(...sizes, ATOMIC_BYTES))
  const rows: BenchRow[] = []
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await row)
    onRow?.(rows.at(-1) as BenchRow)
  }
  try {
    for (const bytes of sizes) await keep(oneSided('write', link, bytes, timeMs))
    for (const bytes of sizes) await keep(oneSided('read', link, bytes, timeMs))
    await keep(oneSided('fetch-add', link, ATOMIC_BYTES, timeMs))
    await keep(oneSided('compare-swap', link, ATOMIC_BYTES, timeMs))
    for (const bytes of sizes) await keep(stream(link, bytes, timeMs))
    for (const bytes of sizes) await keep(benchMemcpy(bytes, timeMs))
    for (const bytes of sizes) await keep(benchIpc(link, bytes, timeMs))
  } finally {
    link.close()
  }
  return rows
}

async function oneSided(
  op: 'write' | 'read' | 'fetch-add' | 'compare-swap',
  link: BenchLink,
  bytes: number,
  timeMs: number,
): Promise<BenchRow> {
  const request = oneSidedRequest(op, link, bytes)
  const windows = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      request.signaled = false
      for (let posted = 1; posted < WINDOW; posted += 1) request.post(1)
      request.signaled = true
      request.post(2)
      link.finish(1)
    }
  }
  const measurement = await measure(windows, timeMs, () => link.remoteCpuNs())
  return rowOf(op, link.device.attributes.provider, bytes, measurement, WINDOW)
}

/** Messages one way, as many as the receiver takes. */
async function stream(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const send = link.pair.prepareSend({ local: link.memory.subarray(0, bytes) })
  const windows = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      send.signaled = false
      for (let posted = 1; posted < WINDOW; posted += 1) send.post(1)
      send.signaled = true
      send.post(2)
      link.finish(1)
    }
  }
  const { value, remoteNs } = await link.serving('sink', bytes, () => measure(windows, timeMs, async () => 0))
  const measuredNs = value.batchNs.reduce((sum, ns) => sum + ns, 0)
  const measurement = { ...value, cpuNs: value.cpuNs + Math.min(remoteNs, measuredNs) }
  return rowOf('send', link.device.attributes.provider, bytes, measurement, WINDOW)
}

import { native } from 'aether-dsm/internal/native'
import type { BenchLink } from './link.ts'
import { measure, noRemote } from './measure.ts'
import { type BenchRow, rowOf } from './row.ts'

/** `Uint8Array.set` within one process: what copying alone costs. */
export async function benchMemcpy(bytes: number, timeMs: number): Promise<BenchRow> {
  const source = new Uint8Array(bytes).fill(1)
  const target = new Uint8Array(bytes)
  const copy = (count: number): void => {
    for (let index = 0; index < count; index += 1) target.set(source)
  }
  return rowOf('memcpy', 'memory', bytes, await measure(copy, timeMs, noRemote))
}

/** Half of a round trip by child_process IPC (`serialization: 'advanced'`): what Node offers today. */
export async function benchIpc(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const payload = new Uint8Array(bytes).fill(1)
  for (let index = 0; index < 20; index += 1) await link.ipc(payload)
  const batchNs: number[] = []
  const remoteBefore = await link.remoteCpuNs()
  const localBefore = native.processorNs(true)
  const until = native.monotonicNs() + timeMs * 1e6
  for (let began = native.monotonicNs(); batchNs.length < 20 || began < until; ) {
    await link.ipc(payload)
    const ended = native.monotonicNs()
    batchNs.push(ended - began)
    began = ended
  }
  const cpuNs = native.processorNs(true) - localBefore + (await link.remoteCpuNs()) - remoteBefore
  return rowOf('ipc', 'child_process', bytes, { batchSize: 1, batchNs: Float64Array.from(batchNs), cpuNs }, 2)
}

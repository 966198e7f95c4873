import { oneSidedRequest } from './latency.ts'
import type { BenchLink } from './link.ts'
import { measure } from './measure.ts'
import { DriveMark, WINDOW } from './messages.ts'
import { type BenchRow, perOperationNs, rowOf } from './row.ts'
import { windowsOf } from './windows.ts'

/**
 * Both ends do the same at the same time, each from one half of its memory to that half of the other's, or back.
 * Neither end waits for the other. Times are those of an operation of this end. Rates and CPU time are those of both
 * ends together, each over its own time. The other end counts between two marks that it is sent around the measurement
 * here.
 */
export async function bothWays(
  op: 'write' | 'read',
  link: BenchLink,
  bytes: number,
  timeMs: number,
): Promise<BenchRow> {
  const windows = windowsOf(oneSidedRequest(op, link, bytes), link)
  const { value, driven } = await link.driving(op, bytes, (mark) => {
    // Called just before what is measured and just after it.
    const marks = [DriveMark.Begin, DriveMark.End]
    return measure(windows, timeMs, async () => {
      mark(marks.shift()!)
      return 0
    })
  })
  const row = rowOf(`${op}-both`, link.device.attributes.provider, bytes, value, WINDOW)
  const opsPerSec = row.opsPerSec + (1e9 * driven.operations) / driven.tookNs
  const operations = driven.operations + WINDOW * value.batchSize * value.batchNs.length
  return {
    ...row,
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * bytes) / 1e4) / 1e5,
    cpuNsPerOp: perOperationNs(value.cpuNs + driven.cpuNs, operations),
  }
}

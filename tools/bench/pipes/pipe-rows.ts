import { native } from 'aether-dsm/internal/native'
import { warmLanes } from '../lanes.ts'
import { processorNsOfAll } from '../peers/processor-time.ts'
import { type BenchRow, rowOf } from '../row.ts'
import type { PipePair } from './pipe-pair.ts'

const BATCHES_MIN = 20
/** Messages of a stream between two questions whether they have come, and their bytes. */
const STREAM_MESSAGES = 256
const STREAM_BYTES = 1 << 20

/** What is measured of a pipe. */
export interface PipeMeasuring {
  readonly pair: PipePair
  readonly provider: string
  readonly bytes: number
  readonly timeMs: number
  /** Processes whose processor time counts besides this one's. */
  readonly pids: readonly number[]
}

/** Half of a round trip, both ends in their event loops. */
export async function loopRow({ pair, provider, bytes, timeMs, pids }: PipeMeasuring): Promise<BenchRow> {
  const exchange = await exchanging(pair, bytes)
  return rowOf('message-loop', provider, bytes, await pair.alive(repeated(exchange, 1, timeMs, pids)), 2)
}

/** A message of that length there and one back. */
export async function exchanging(pair: PipePair, bytes: number): Promise<() => Promise<void>> {
  const { pipe } = pair
  await pair.order({ mode: 'echo', bytes })
  pipe.messageBytes = bytes
  const data = new Uint8Array(bytes).fill(1)
  return () =>
    new Promise((resolve) => {
      pipe.onMessage = resolve
      void pipe.send(data)
    })
}

/**
 * Messages one way, both ends in their event loops: as fast as they are taken. Each batch ends with the question
 * whether the one before has come, so at most two are under way.
 */
export async function streamRow({ pair, provider, bytes, timeMs, pids }: PipeMeasuring): Promise<BenchRow> {
  const { pipe } = pair
  const every = Math.max(1, Math.min(STREAM_MESSAGES, Math.floor(STREAM_BYTES / bytes)))
  await pair.order({ mode: 'sink', bytes, every })
  pipe.messageBytes = 1
  const data = new Uint8Array(bytes).fill(1)
  let sent = 0
  let seen = 0
  let came = (): void => {}
  pipe.onMessage = () => {
    seen += 1
    came()
  }
  const allBut = async (open: number): Promise<void> => {
    while (seen < sent - open)
      await new Promise<void>((resolve) => {
        came = resolve
      })
  }
  const batch = async (): Promise<void> => {
    for (let index = 0; index < every; index += 1) {
      const room = pipe.send(data)
      if (room !== undefined) await room
    }
    sent += 1
    await allBut(1)
  }
  const measured = await pair.alive(repeated(batch, every, timeMs, pids))
  await pair.alive(allBut(0))
  return rowOf('stream-loop', provider, bytes, measured)
}

/** One after the other. Processor time is this process's and that of `pids`. */
export async function repeated(
  operation: () => Promise<void>,
  batchSize: number,
  timeMs: number,
  pids: readonly number[],
): Promise<{ batchSize: number; batchNs: Float64Array; cpuNs: number }> {
  await warmLanes([operation], timeMs)
  const batchNs: number[] = []
  const cpuBefore = native.processorNs(true) + processorNsOfAll(pids)
  const until = native.monotonicNs() + timeMs * 1e6
  for (let began = native.monotonicNs(); batchNs.length < BATCHES_MIN || began < until; ) {
    await operation()
    const ended = native.monotonicNs()
    batchNs.push(ended - began)
    began = ended
  }
  const cpuNs = native.processorNs(true) + processorNsOfAll(pids) - cpuBefore
  return { batchSize, batchNs: Float64Array.from(batchNs), cpuNs }
}

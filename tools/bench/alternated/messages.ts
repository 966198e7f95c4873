import process from 'node:process'
import { openDevice } from 'aether-dsm/internal/verbs'
import { addressOf } from '../device-address.ts'
import { type Lane, runLanes, warmLanes } from '../lanes.ts'
import { providerOfWay } from '../peers/provider-name.ts'
import { PipePair } from '../pipes/pipe-pair.ts'
import { exchanging } from '../pipes/pipe-rows.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { type AlternatedPlan, alternate, type Contender } from './alternate.ts'
import type { AlternatedRow } from './alternated-row.ts'

/** So long each way warms up at least. */
const WARM_MS = 500

export interface AlternatedMessagesOptions extends AlternatedPlan {
  readonly device: string
  readonly sizes: readonly number[]
  readonly timeMs: number
  readonly onRow?: (row: AlternatedRow) => void
}

/** `message-loop` of this package and of a Unix socket, alternately. */
export async function alternateMessages(options: AlternatedMessagesOptions): Promise<AlternatedRow[]> {
  const { device, sizes, timeMs, onRow } = options
  const rows: AlternatedRow[] = []
  const keep = (row: AlternatedRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  using scratch = new ScratchDirectory()
  const meeting = { device, address: addressOf(device), directory: scratch.path }
  await using own = await PipePair.start('aether', meeting)
  await using other = await PipePair.start('socket', meeting)
  for (const bytes of sizes) {
    const contender = async (pair: PipePair, provider: string): Promise<Contender> => {
      const exchange: Lane = await exchanging(pair, bytes)
      await pair.alive(warmLanes([exchange], WARM_MS))
      return { provider, pids: [process.pid, pair.pid], run: () => pair.alive(oneWay(exchange, timeMs)) }
    }
    const ours = await contender(own, providerOf(device))
    const socket = await contender(other, await providerOfWay('socket'))
    await alternate(options, { op: 'message-loop', bytes }, ours, socket, keep)
  }
  return rows
}

/** Half of each round trip. */
async function oneWay(exchange: Lane, timeMs: number): ReturnType<Contender['run']> {
  const { samples, count, tookNs } = await runLanes([exchange], timeMs)
  return { samples: samples.map((ns) => ns / 2), count: 2 * count, opsPerSec: (2e9 * count) / tookNs }
}

function providerOf(name: string): string {
  using device = openDevice(name)
  return device.attributes.provider
}

import { CLIENT_DEPTH } from '../calls/call-rows.ts'
import { CallerCrew } from '../calls/caller-crew.ts'
import { together } from '../lanes.ts'
import { providerOfWay } from '../peers/provider-name.ts'
import { RpcPeer } from '../rpc-peer.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { type AlternatedPlan, alternate, type Contender } from './alternate.ts'
import type { AlternatedRow } from './alternated-row.ts'

/** How often each way warms up: several processes on few processors compile slowly. */
const WARM_TIMES = 5

export interface AlternatedCallsOptions extends AlternatedPlan {
  readonly device: string
  readonly sizes: readonly number[]
  /** Calls in progress of one client. */
  readonly depths: readonly number[]
  /** Client processes, with 16 calls in progress each. */
  readonly clients: readonly number[]
  readonly timeMs: number
  readonly onRow?: (row: AlternatedRow) => void
}

/** `call-D` and `clients-N` of this package and of a Unix socket, alternately, with the same server. */
export async function alternateCalls(options: AlternatedCallsOptions): Promise<AlternatedRow[]> {
  const { device, sizes, depths, clients, timeMs, onRow } = options
  const rows: AlternatedRow[] = []
  const keep = (row: AlternatedRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  const works = [
    ...depths.map((depth) => ({ op: `call-${depth}`, processes: 1, depth })),
    ...clients.map((processes) => ({ op: `clients-${processes}`, processes, depth: CLIENT_DEPTH })),
  ]
  using scratch = new ScratchDirectory()
  const peer = await RpcPeer.start(device, scratch.path)
  try {
    for (const { op, processes, depth } of works) {
      await using own = await CallerCrew.start('aether', processes, peer.meeting)
      await using other = await CallerCrew.start('socket', processes, peer.meeting)
      for (const bytes of sizes) {
        for (let time = 0; time < WARM_TIMES; time += 1)
          for (const crew of [own, other]) await crew.prepare({ bytes, depth, timeMs })
        const contender = (crew: CallerCrew, provider: string): Contender => ({
          provider,
          pids: [peer.pid, ...crew.pids],
          run: async () => together((await peer.alive(crew.run())).runs),
        })
        const [ours, socket] = [contender(own, peer.provider), contender(other, await providerOfWay('socket'))]
        await alternate(options, { op, bytes }, ours, socket, keep)
      }
    }
  } finally {
    await peer.close()
  }
  return rows
}

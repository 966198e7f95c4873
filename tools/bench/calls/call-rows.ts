import { laneRow } from '../lanes.ts'
import type { WayName } from '../peers/peer-name.ts'
import { processorNsOfAll } from '../peers/processor-time.ts'
import type { BenchRow } from '../row.ts'
import type { CallMeeting } from './call-meeting.ts'
import { CallerCrew } from './caller-crew.ts'

/** Calls under way of each of several clients. */
export const CLIENT_DEPTH = 16

/** What is measured of one way to call. */
export interface CallPlan {
  readonly way: WayName
  readonly provider: string
  readonly meeting: CallMeeting
  /** Processes of the server: their processor time counts, too. */
  readonly serverPids: readonly number[]
  readonly sizes: readonly number[]
  readonly depths: readonly number[]
  readonly clients: readonly number[]
  readonly timeMs: number
}

/**
 * `call-D`: one client with D calls under way; `clients-N`: N clients with 16 each. Each client is a process of its
 * own.
 */
export async function benchCalls(plan: CallPlan, keep: (row: BenchRow) => void): Promise<void> {
  const single = plan.depths.map((depth) => ({ op: `call-${depth}`, depth }))
  if (single.length > 0) await benchCrew(plan, 1, single, keep)
  for (const count of plan.clients)
    await benchCrew(plan, count, [{ op: `clients-${count}`, depth: CLIENT_DEPTH }], keep)
}

async function benchCrew(
  { way, provider, meeting, serverPids, sizes, timeMs }: CallPlan,
  processes: number,
  works: readonly { readonly op: string; readonly depth: number }[],
  keep: (row: BenchRow) => void,
): Promise<void> {
  await using crew = await CallerCrew.start(way, processes, meeting)
  for (const bytes of sizes) {
    for (const { op, depth } of works) {
      const serverNs: number[] = []
      const measured = (): void => void serverNs.push(processorNsOfAll(serverPids))
      const { runs, cpuNs } = await crew.measure({ bytes, depth, timeMs }, measured)
      keep(laneRow({ op, provider, bytes }, runs, cpuNs + serverNs[1]! - serverNs[0]!))
    }
  }
}

import { type AlternatedRow, alternatedRows, type Measured, type Round } from './alternated-row.ts'
import { BusyCrew } from './busy-crew.ts'
import { countsSince, schedulerCountsOf } from './scheduler-counts.ts'

/** A way that is measured: what `run` does for the measured time, in the processes `pids`. */
export interface Contender {
  readonly provider: string
  readonly pids: readonly number[]
  /** Run for the measured time: single operations, and how many there were in how long. */
  run(): Promise<ContenderRun>
}

interface ContenderRun {
  /** Nanoseconds of single operations. */
  readonly samples: Float64Array
  readonly count: number
  readonly opsPerSec: number
}

export interface AlternatedPlan {
  /** Numbers of busy processes. */
  readonly loads: readonly number[]
  readonly rounds: number
}

/**
 * Two ways take turns, `rounds` times beside each number of busy processes. Each round the other one is first,
 * so that other work on the machine meets both alike.
 */
export async function alternate(
  { loads, rounds }: AlternatedPlan,
  what: Omit<Measured, 'busy'>,
  own: Contender,
  other: Contender,
  keep: (row: AlternatedRow) => void,
): Promise<void> {
  for (const busy of loads) {
    await using _ = await BusyCrew.start(busy)
    const found: readonly [Round[], Round[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      for (const turn of [round % 2, 1 - (round % 2)]) found[turn]!.push(await roundOf(turn === 0 ? own : other))
    }
    const ways = [
      { provider: own.provider, rounds: found[0] },
      { provider: other.provider, rounds: found[1] },
    ] as const
    for (const row of alternatedRows({ ...what, busy }, ways)) keep(row)
  }
}

async function roundOf({ run, pids }: Contender): Promise<Round> {
  const before = schedulerCountsOf(pids)
  const found = await run()
  return { ...found, scheduler: countsSince(before, schedulerCountsOf(pids)) }
}

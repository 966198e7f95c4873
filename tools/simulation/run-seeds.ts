import type { PlanOptions } from './plan.ts'
import { playTasks } from './play-tasks.ts'
import type { SeedReport, SeedTask } from './simulation-worker.ts'

export interface RunSeedsOptions extends PlanOptions {
  /** The first seed. */
  readonly first: number
  readonly seeds: number
  /** Threads to play in; default one for each processor. */
  readonly threads?: number
  /** Every so many seeds one is played twice, to see that it takes the same course; default 20, 0 for none. */
  readonly twiceEvery?: number
  /** A seed is done. Where it returns 'stop', no other is begun. */
  readonly onReport?: (report: SeedReport) => 'stop' | undefined
}

/** Play many seeds, several at a time. Reports come in the order in which they are done. */
export function runSeeds(options: RunSeedsOptions): Promise<SeedReport[]> {
  const { first, seeds, threads, twiceEvery = 20, onReport, protocols, hazards } = options
  const planOptions: PlanOptions = {
    ...(protocols === undefined ? {} : { protocols }),
    ...(hazards === undefined ? {} : { hazards }),
  }
  return playTasks<SeedTask, SeedReport>({
    worker: new URL('./simulation-worker.js', import.meta.url),
    count: seeds,
    taskOf: (index) => ({
      seed: first + index,
      options: planOptions,
      twice: twiceEvery > 0 && index % twiceEvery === 0,
    }),
    threads,
    onReport,
  })
}

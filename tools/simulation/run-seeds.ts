import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { PlanOptions } from './plan.ts'
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
export async function runSeeds(options: RunSeedsOptions): Promise<SeedReport[]> {
  const { first, seeds, threads = availableParallelism(), twiceEvery = 20, onReport, ...plan } = options
  const reports: SeedReport[] = []
  let next = 0
  const serve = async (): Promise<void> => {
    const player = new Player()
    try {
      while (next < seeds) {
        const index = next++
        const twice = twiceEvery > 0 && index % twiceEvery === 0
        const report = await player.play({ seed: first + index, options: planOptions(plan), twice })
        reports.push(report)
        if (onReport?.(report) === 'stop') next = seeds
      }
    } finally {
      await player.close()
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(threads, seeds)) }, () => serve()))
  return reports
}

function planOptions({ protocols, hazards }: PlanOptions): PlanOptions {
  return { ...(protocols === undefined ? {} : { protocols }), ...(hazards === undefined ? {} : { hazards }) }
}

/** One thread. */
class Player {
  readonly #worker = new Worker(new URL('./simulation-worker.js', import.meta.url))
  #onReport: (report: SeedReport) => void = nothing
  #onEnd: (error: Error) => void = nothing

  constructor() {
    this.#worker.on('message', (report: SeedReport) => this.#onReport(report))
    this.#worker.on('error', (error) => this.#onEnd(error))
    this.#worker.on('exit', (code) => this.#onEnd(new Error(`a thread of the simulator ended with ${code}`)))
  }

  play(task: SeedTask): Promise<SeedReport> {
    return new Promise((resolve, reject) => {
      this.#onReport = resolve
      this.#onEnd = reject
      this.#worker.postMessage(task)
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

function nothing(): void {
  return
}

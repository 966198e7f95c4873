import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface PlayTasksOptions<Task, Report> {
  /** A module that answers each message with one. */
  readonly worker: URL
  readonly count: number
  readonly taskOf: (index: number) => Task
  /** Threads to play in; default one for each processor. */
  readonly threads?: number | undefined
  /** A task is done. Where it returns 'stop', no other is begun. */
  readonly onReport?: ((report: Report) => 'stop' | undefined) | undefined
}

/** Carry out tasks, several at a time. Reports come in the order in which they are done. */
export async function playTasks<Task, Report>(options: PlayTasksOptions<Task, Report>): Promise<Report[]> {
  const { worker, count, taskOf, threads = availableParallelism(), onReport } = options
  const reports: Report[] = []
  let next = 0
  const serve = async (): Promise<void> => {
    const player = new Player<Task, Report>(worker)
    try {
      while (next < count) {
        const report = await player.play(taskOf(next++))
        reports.push(report)
        if (onReport?.(report) === 'stop') next = count
      }
    } finally {
      await player.close()
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(threads, count)) }, () => serve()))
  return reports
}

/** One thread. */
class Player<Task, Report> {
  readonly #worker: Worker
  #onReport: (report: Report) => void = nothing
  #onEnd: (error: Error) => void = nothing

  constructor(module: URL) {
    this.#worker = new Worker(module)
    this.#worker.on('message', (report: Report) => this.#onReport(report))
    this.#worker.on('error', (error) => this.#onEnd(error))
    this.#worker.on('exit', (code) => this.#onEnd(new Error(`a thread of the simulator ended with ${code}`)))
  }

  play(task: Task): Promise<Report> {
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

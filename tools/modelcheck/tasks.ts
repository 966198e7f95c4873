import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { ExploreOptions, ExploreResult } from './explorer.ts'
import type { Model } from './model.ts'

/** Worker to pool. */
export type WorkerReport =
  | { readonly type: 'progress'; readonly states: number; readonly depth: number }
  | { readonly type: 'done'; readonly result: ExploreResult; readonly seconds: number }
  | { readonly type: 'failed'; readonly message: string }

/** A model to explore, and how. */
export interface Task {
  readonly model: Model
  readonly options: Omit<ExploreOptions, 'onProgress'>
  /** How many random actions to take, beyond the depth of a bounded exploration (default none). */
  readonly walkSteps?: number
}

/** What came of a task. */
export interface TaskResult<T extends Task> {
  readonly task: T
  readonly result: ExploreResult
  readonly seconds: number
}

export interface RunTasksOptions<T extends Task> {
  /** Threads to explore in (default: one for each processor). */
  readonly threads?: number
  /** A task has come so far. */
  readonly onProgress?: (task: T, states: number, depth: number) => void
  /** A task is done. Where it returns 'stop', no other is begun. */
  readonly onResult?: (result: TaskResult<T>) => 'stop' | undefined
}

/**
 * Explore many models, several at a time. Results are in the order of the tasks; those that were not begun are left
 * out.
 */
export async function runTasks<T extends Task>(
  tasks: readonly T[],
  options: RunTasksOptions<T> = {},
): Promise<TaskResult<T>[]> {
  const { threads = availableParallelism() } = options
  const results: (TaskResult<T> | undefined)[] = []
  let begun = 0
  const take = (): number | undefined => (begun < tasks.length ? begun++ : undefined)
  const stop = (): void => {
    begun = tasks.length
  }
  const serve = async (): Promise<void> => {
    const explorer = new ExplorerThread()
    try {
      for (let index = take(); index !== undefined; index = take()) {
        const task = tasks[index]!
        const found = await explorer.run(task, (states, depth) => options.onProgress?.(task, states, depth))
        const result = { task, ...found }
        results[index] = result
        if (options.onResult?.(result) === 'stop') stop()
      }
    } catch (error) {
      stop()
      throw error
    } finally {
      await explorer.close()
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(threads, tasks.length)) }, () => serve()))
  return results.filter((result) => result !== undefined)
}

class ExplorerThread {
  readonly #worker = new Worker(new URL('./check-worker.js', import.meta.url))
  #onReport: (report: WorkerReport) => void = () => {}
  #onEnd: (error: Error) => void = () => {}

  constructor() {
    this.#worker.on('message', (report: WorkerReport) => this.#onReport(report))
    this.#worker.on('error', (error) => this.#onEnd(error))
    this.#worker.on('exit', (code) => this.#onEnd(new Error(`a thread of the model checker ended with ${code}`)))
  }

  run(
    { model, options, walkSteps = 0 }: Task,
    onProgress: (states: number, depth: number) => void,
  ): Promise<{ result: ExploreResult; seconds: number }> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject
      this.#onReport = (report) => {
        if (report.type === 'progress') onProgress(report.states, report.depth)
        else if (report.type === 'failed') reject(new Error(report.message))
        else resolve({ result: report.result, seconds: report.seconds })
      }
      this.#worker.postMessage({ model, options, walkSteps } satisfies Task)
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

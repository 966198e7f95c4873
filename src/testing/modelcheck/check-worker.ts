/** A thread that explores: one task at a time, for as long as it is given any. */
import { parentPort } from 'node:worker_threads'
import { type ExploreResult, exploreModel } from './explorer.ts'
import type { Task } from './tasks.ts'

/** Worker to pool. */
export type WorkerReport =
  | { readonly type: 'progress'; readonly states: number; readonly depth: number }
  | { readonly type: 'done'; readonly result: ExploreResult; readonly seconds: number }
  | { readonly type: 'failed'; readonly message: string }

const port = parentPort!
const report = (message: WorkerReport): void => port.postMessage(message)

port.on('message', ({ model, options }: Task) => {
  const startedMs = performance.now()
  const onProgress = (states: number, depth: number): void => report({ type: 'progress', states, depth })
  try {
    const result = exploreModel(model, { ...options, onProgress })
    report({ type: 'done', result, seconds: (performance.now() - startedMs) / 1000 })
  } catch (error) {
    report({ type: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

/** A thread that explores: one task at a time, for as long as it is given any. */
import { parentPort } from 'node:worker_threads'
import { type ExploreResult, exploreModel } from './explorer.ts'
import type { Task, WorkerReport } from './tasks.ts'
import { walkModel } from './walk.ts'

const port = parentPort!
const report = (message: WorkerReport): void => port.postMessage(message)

port.on('message', (task: Task) => {
  const startedMs = performance.now()
  const onProgress = (states: number, depth: number): void => report({ type: 'progress', states, depth })
  try {
    const result = run(task, onProgress)
    report({ type: 'done', result, seconds: (performance.now() - startedMs) / 1000 })
  } catch (error) {
    report({ type: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

/** Explore; where that is bounded, walk further at random. */
function run(
  { model, options, walkSteps = 0 }: Task,
  onProgress: (states: number, depth: number) => void,
): ExploreResult {
  const result = exploreModel(model, { ...options, onProgress })
  if (result.exhaustive || result.violation !== undefined || walkSteps === 0) return result
  const { ways, ...walk } = walkModel(model, { steps: walkSteps })
  const isNew = (cell: string): boolean => ways.has(cell) && !result.visited.includes(cell)
  return {
    ...result,
    walked: walk.steps,
    visited: [...result.visited, ...[...ways.keys()].filter((cell) => isNew(cell))],
    unvisited: result.unvisited.filter((cell) => !isNew(cell)),
    ...(walk.violation === undefined ? {} : { violation: walk.violation }),
  }
}

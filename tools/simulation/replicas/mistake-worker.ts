/** A thread of its own, with modules of its own: plays seeds with a mistake in them until one is found out. */
import { register } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { Mistake } from './mistakes.ts'

export interface MistakeTask {
  readonly mistake: Mistake
  readonly first: number
  readonly seeds: number
}

export interface MistakeReport {
  /** What was violated first, and after how many seeds; undefined if nothing was. */
  readonly violation: string | undefined
  readonly seeds: number
}

const { mistake, first, seeds } = workerData as MistakeTask
register('./mistake-hooks.js', { parentURL: import.meta.url, data: mistake })
const { simulateReplicas } = await import('./simulate-replicas.ts')
const { planReplicas, planWithDisks } = await import('./replica-plan.ts')
const planOf = mistake.hasDisks === true ? planWithDisks : planReplicas

const { shape, writing } = mistake
const changes = { ...(shape && { shape }), ...(writing && { writing }) }
let violation: string | undefined
let played = 0
while (violation === undefined && played < seeds) {
  violation = simulateReplicas(planOf(first + played, changes)).violation
  played += 1
}
parentPort!.postMessage({ violation, seeds: played } satisfies MistakeReport)

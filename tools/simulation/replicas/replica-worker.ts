/** A thread that plays plans of replicas: one seed at a time, for as long as it is given any. */
import { parentPort } from 'node:worker_threads'
import { planReplicas, planWithDisks } from './replica-plan.ts'
import { type ReplicaRunResult, simulateReplicas } from './simulate-replicas.ts'

export interface ReplicaSeedTask {
  readonly seed: number
  readonly hasDisks: boolean
  /** Play it twice, and compare. */
  readonly twice: boolean
}

const port = parentPort!

port.on('message', ({ seed, hasDisks, twice }: ReplicaSeedTask) => {
  const plan = (hasDisks ? planWithDisks : planReplicas)(seed)
  const result = simulateReplicas(plan)
  const again = twice ? simulateReplicas(plan).traceHash : result.traceHash
  const differs = `determinism: two runs of the same seed took courses ${result.traceHash} and ${again}`
  const violation = result.violation ?? (again === result.traceHash ? undefined : differs)
  port.postMessage({ ...result, violation } satisfies ReplicaRunResult)
})

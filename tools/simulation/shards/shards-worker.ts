/** A thread that plays plans of shards: one seed at a time, for as long as it is given any. */
import { parentPort } from 'node:worker_threads'
import { planShards } from './shards-plan.ts'
import { type ShardsRunResult, simulateShards } from './simulate-shards.ts'

export interface ShardsSeedTask {
  readonly seed: number
  readonly disks: boolean
  /** Play it twice, and compare. */
  readonly twice: boolean
}

const port = parentPort!

async function play({ seed, disks, twice }: ShardsSeedTask): Promise<ShardsRunResult> {
  const plan = planShards(seed, {}, disks)
  const result = await simulateShards(plan)
  const again = twice ? (await simulateShards(plan)).traceHash : result.traceHash
  const differs = `determinism: two runs of the same seed took courses ${result.traceHash} and ${again}`
  return { ...result, violation: result.violation ?? (again === result.traceHash ? undefined : differs) }
}

port.on('message', (task: ShardsSeedTask) => {
  void play(task).then((result) => port.postMessage(result))
})

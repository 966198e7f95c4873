/** A thread of its own, with modules of its own: plays seeds with a mistake in them until one is found out. */
import { register } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { MistakeReport } from '../replicas/mistake-worker.ts'
import type { ShardMistake } from './shard-mistakes.ts'

const { mistake, seeds } = workerData as { readonly mistake: ShardMistake; readonly seeds: readonly number[] }
register('../replicas/mistake-hooks.js', { parentURL: import.meta.url, data: mistake })
const { simulateShards } = await import('./simulate-shards.ts')
const { planShards } = await import('./shards-plan.ts')

let violation: string | undefined
let played = 0
for (const seed of seeds) {
  if (violation !== undefined) break
  violation = (await simulateShards(planShards(seed, mistake.plan, mistake.onDisks))).violation
  played += 1
}
parentPort!.postMessage({ violation, seeds: played } satisfies MistakeReport)

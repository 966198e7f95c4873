/** Nodes of an index in virtual time: shards that move, clients that look for them, and what goes wrong. */
export { runShardSeeds } from './run-shard-seeds.ts'
export { playShardMistake, shardCanary, shardMistakes } from './shard-mistakes.ts'
export { planShards } from './shards-plan.ts'
export { type ShardsRunResult, simulateShards } from './simulate-shards.ts'

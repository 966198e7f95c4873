/** A replicated log in virtual time: its replicas, their clients, and what goes wrong. */
export { canaries, mistakes } from './mistakes.ts'
export { playMistake } from './play-mistake.ts'
export { planReplicas, planWithDisks, type ReplicaPlan } from './replica-plan.ts'
export { runReplicaSeeds } from './run-replica-seeds.ts'
export { shortenReplicas } from './shorten-replicas.ts'
export { type ReplicaRunResult, simulateReplicas } from './simulate-replicas.ts'

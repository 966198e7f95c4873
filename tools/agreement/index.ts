export { alignedPaxos, diskPaxos, messagePaxos, protectedMemoryPaxos } from './paxos/algorithms.ts'
export { playTimely } from './play/timely.ts'
export { World } from './play/world.ts'
export { fastAndRobust, nonEquivocatingBroadcast, robustBackup } from './byzantine/algorithms.ts'

/** Whether a history of concurrent calls could have happened one after the other. */
export * from './check.ts'
export type { HistoryCall, SequentialModel } from './history.ts'
export type { DeterministicModel } from './models/deterministic-model.ts'
export * from './models/entry.ts'
export * from './models/list.ts'
export * from './models/log.ts'
export * from './models/register.ts'
export * from './partitions.ts'

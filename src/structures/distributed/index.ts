/** The structures of a group: kept at one rank each, reached by one-sided verbs. */
export type { GroupCell } from './cell.ts'

export type { GroupCounter } from './counter.ts'
export { HomeLostError } from './errors.ts'

export type { GroupList } from './group-list.ts'
export type { GroupStructures } from './group-structures.ts'

export type { GroupLog } from './log.ts'

export type { GroupMap } from './map.ts'

export type { GroupMvRlu } from './mvrlu.ts'

export { type GroupStructuresOptions, openGroupStructures } from './open-group.ts'

export type { GroupRcu } from './rcu.ts'

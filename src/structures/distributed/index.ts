/** The structures of a group: kept at one rank each, reached by one-sided verbs. */

export type { GroupCounter } from './counter.ts'
export type { GroupStructures } from './group-structures.ts'
export type { GroupList } from './list/group-list.ts'
export type { GroupLog } from './log/group-log.ts'
export type { GroupMap } from './map/group-map.ts'
export { HomeLostError } from './memory/errors.ts'
export type { GroupMvRlu } from './mvrlu/group-mv-rlu.ts'
export { type GroupStructuresOptions, openGroupStructures } from './open-group.ts'
export type { GroupCell } from './rcu/group-cell.ts'

export type { GroupRcu } from './rcu/group-rcu.ts'

import type { SharedStack } from '../../list/stack.ts'
import type { Promised } from '../memory/promised.ts'
import { GroupList } from './group-list.ts'

/**
 * Last in, first out, among the ranks of a group; as {@link SharedStack} on one machine. Each value is taken once. See
 * stack-core.ts for why, and for what a rank that dies leaves behind.
 */
export class GroupStack<V> extends GroupList<V> implements Promised<SharedStack<V>> {}

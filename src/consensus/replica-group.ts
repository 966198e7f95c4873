import type { RegionGroup } from '../dsm/index.ts'

/** What replicas need of their group. */
export interface ReplicaGroup
  extends Pick<
    RegionGroup,
    | 'rank'
    | 'size'
    | 'grows'
    | 'device'
    | 'closed'
    | 'members'
    | 'isMember'
    | 'isGone'
    | 'tell'
    | 'onTold'
    | 'onEvent'
    | 'post'
    | 'posted'
  > {
  lock(name: string): Promise<Disposable>
}

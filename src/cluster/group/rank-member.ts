import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { Member } from '../member-table.ts'

/** A rank and its process. */
export interface RankMember {
  readonly rank: number
  readonly processId: number
  /** The name of its machine for people. */
  readonly host: string
  /** Its membership of this rank's space; undefined for a rank of another machine. */
  readonly member: Member | undefined
  /** The longest packet between the two, in bytes; undefined if that does not apply. */
  readonly pathMtu: number | undefined
}

/** A rank and how to reach it. */
export interface RankPeer extends RankMember {
  readonly endpoint: RemoteEndpoint
  /** True if its process number has a meaning here, so that its end can be seen. */
  readonly visible: boolean
}

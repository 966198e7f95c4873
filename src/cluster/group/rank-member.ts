import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { Member } from '../member-table.ts'

/** A rank with the process that it is. */
export interface RankMember {
  readonly rank: number
  readonly processId: number
  /** What people call its machine. */
  readonly host: string
  /** Its membership of this rank's space; undefined for one of another machine. */
  readonly member: Member | undefined
}

/** A rank and how to reach it. */
export interface RankPeer extends RankMember {
  readonly endpoint: RemoteEndpoint
  /** Whether its process number means something here, so that its end can be seen. */
  readonly visible: boolean
  /** The longest packet between the two, in bytes; undefined where it does not apply. */
  readonly pathMtu: number | undefined
}

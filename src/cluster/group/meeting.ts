import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { ControlPlace } from '../hosts/index.ts'
import type { Membership } from '../membership.ts'
import type { RankPeer } from './rank-member.ts'

/** Where the ranks of a group have met. */
export interface MeetingPlace {
  /** This rank's hold on a space of its machine; ranks of one machine share one. */
  readonly membership: Membership
  /** The verbs device that connects the agents. */
  readonly device: string
  /** True if all ranks are in one space. */
  readonly oneMachine: boolean
  /**
   * This rank has heard that every other has left. Resolves when all have: nothing that a rank waits for is then in
   * flight between them.
   */
  left(): Promise<void>
  /** The agent has ended; `why` is what the others are told if the group is not complete yet. */
  close(why?: string): Promise<void>
}

/** How the ranks of a group find each other: in a space of one machine, or over TCP. */
export interface Meeting extends MeetingPlace {
  /** How many ranks are on this machine. */
  readonly ranksHere: number
  /** How the agent learns of ends that it cannot see. */
  readonly control: ControlPlace | undefined
  /** Publish how each rank reaches us, by rank, and wait for the others' answers. */
  exchange(endpoints: readonly RemoteEndpoint[]): Promise<readonly RankPeer[]>
  /** This rank is connected to all. Resolves when every rank is. */
  connected(): Promise<void>
}

import { hostname } from 'node:os'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import { Membership } from '../membership.ts'
import { inspectDevice } from './device-choice.ts'
import { JoinError } from './errors.ts'
import type { JoinPlan } from './group-options.ts'
import type { Meeting } from './meeting.ts'
import type { RankPeer } from './rank-member.ts'
import { meet } from './rendezvous.ts'

/** Ranks of one machine, which meet in a space. */
export class LocalMeeting implements Meeting {
  readonly membership: Membership
  readonly device: string
  readonly oneMachine = true
  readonly ranksHere: number
  readonly control: undefined = undefined
  readonly #plan: JoinPlan

  private constructor(plan: JoinPlan, membership: Membership) {
    this.#plan = plan
    this.membership = membership
    this.device = plan.device ?? 'shm0'
    this.ranksHere = plan.size
  }

  static async begin(plan: JoinPlan, space: string): Promise<LocalMeeting> {
    if (plan.device !== undefined) inspectDevice(plan.device, plan.size)
    const membership = await Membership.enter(space, { timeoutMs: plan.timeoutMs })
    const { directory } = membership.arena
    if (directory === undefined) return new LocalMeeting(plan, membership)
    await membership.close()
    const why = `space '${space}' is in ${directory}, where processes of several containers meet, and ranks need one`
    throw new JoinError(`cannot join: ${why}; choose another rendezvous`)
  }

  async exchange(endpoints: readonly RemoteEndpoint[]): Promise<readonly RankPeer[]> {
    const peers = await meet(this.membership, this.#plan, endpoints)
    const host = hostname()
    return peers.map((peer) => ({ ...peer, host, visible: true, pathMtu: undefined }))
  }

  /**
   * The barrier that follows is enough: a request to a peer that is still connecting is repeated as long as its process
   * lives.
   */
  async connected(): Promise<void> {}

  /** What was sent in shared memory has arrived. */
  async left(): Promise<void> {}

  close(): Promise<void> {
    return this.membership.close()
  }
}

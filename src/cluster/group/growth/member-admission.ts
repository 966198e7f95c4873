import type { MembershipMachine, MembershipView } from '../membership-machine.ts'
import type { Mesh } from '../mesh.ts'
import {
  type DoorAnswer,
  type DoorQuestion,
  endpointOf,
  type GroupStatus,
  type Introduction,
  type IntroductionAnswer,
  type IntroductionPart,
  isEndpoint,
  type MemberCard,
  MOVED,
  type PlainEndpoint,
  pathMtuOf,
  plainEndpoint,
} from './introduction.ts'
import { CANDIDATES_MAX, MEMBERS_AT_ONCE_MAX } from './limits.ts'

/** Where a member begins. */
export interface MemberAdmissionStart {
  readonly card: MemberCard
  /** Of the members of the view, in its order. */
  readonly cards: readonly MemberCard[]
  readonly view: MembershipView
  /** Undefined for the first member. */
  readonly candidate?: number
}

/** What the admission needs of its group. */
export interface MemberAdmissionHost {
  readonly rank: number
  readonly leaseMs: number
  readonly mesh: Mesh
  readonly membership: Pick<MembershipMachine, 'view' | 'given' | 'joining' | 'isCandidate' | 'isStuck'>
  /** This member leaves. */
  hasLeft(): boolean
  /** `done` gets the answer of the rank's agent, or undefined if it is gone. */
  ask(rank: number, question: unknown, done: (answer: unknown) => void): void
  /** Every member is ready for this candidate: propose it to all. */
  admit(candidate: number): void
}

/**
 * One member's part in letting others into a group that grows. It knows members and candidates, and answers what
 * candidates ask.
 */
export class MemberAdmission {
  readonly own: MemberCard
  readonly #host: MemberAdmissionHost
  /** Of each member. */
  readonly #cards: Map<number, MemberCard>
  /** Of candidates that are known here. */
  readonly #candidates = new Map<number, MemberCard>()

  constructor({ card, cards, view, candidate }: MemberAdmissionStart, host: MemberAdmissionHost) {
    this.own = card
    this.#host = host
    this.#cards = new Map(view.members.map((member, index) => [member, cards[index]!]))
    if (candidate !== undefined) this.#cards.set(host.rank, card)
  }

  /** What a process that wants to join asks. */
  atDoor(question: DoorQuestion, done: (answer: DoorAnswer) => void): void {
    const { view, isCandidate, isStuck } = this.#host.membership
    // Without a quorum it admits no one, and does not know whether others do.
    if (this.#host.hasLeft() || isCandidate || isStuck) done(MOVED)
    else if (question.ask === 'status') done(this.#status())
    else if (question.ask === 'introduce') this.#introduce(question.introduction, done)
    else if (question.epoch !== view.epoch || !this.#candidates.has(question.candidate)) done(MOVED)
    else {
      done('proposed')
      this.#host.admit(question.candidate)
    }
  }

  /** Make ready for a candidate that another member has heard of. */
  meet({ candidate, epoch, card, endpoint }: IntroductionPart): IntroductionAnswer {
    const { mesh, membership, hasLeft } = this.#host
    const { view } = membership
    const isFull = view.members.length >= MEMBERS_AT_ONCE_MAX
    if (epoch !== view.epoch || isFull || hasLeft() || this.#candidates.has(candidate)) return null
    this.#makeRoom()
    this.#candidates.set(candidate, card)
    try {
      const pathMtu = pathMtuOf(this.own, card)
      return plainEndpoint(mesh.prepare(candidate, { endpoint: endpointOf(endpoint), pathMtu }))
    } catch {
      // Its process has ended, or memory is used up.
      this.#candidates.delete(candidate)
      return null
    }
  }

  /** The candidate is rank `rank` now. Undefined if nothing is known of it, so that it cannot be reached. */
  promote(rank: number, candidate: number): MemberCard | undefined {
    const card = this.#candidates.get(candidate)
    if (card === undefined || !this.#host.mesh.promote(candidate, rank)) return undefined
    this.#candidates.delete(candidate)
    this.#cards.set(rank, card)
    return card
  }

  /** The view that they were candidates for is over. */
  dropCandidates(): void {
    for (const candidate of [...this.#candidates.keys()]) this.#drop(candidate)
  }

  /** A member is out. */
  forget(rank: number): void {
    this.#cards.delete(rank)
  }

  /** Whether its machine has the address of a seed. */
  isAtSeed(rank: number): boolean {
    return this.#cards.get(rank)?.isAtSeed === true
  }

  #status(): GroupStatus {
    const { membership, leaseMs } = this.#host
    const { view, given } = membership
    return { view, given, cards: view.members.map((rank) => this.#cards.get(rank)!), leaseMs }
  }

  /** Make ready for a candidate, here and at every other member. */
  #introduce(introduction: Introduction, done: (answer: DoorAnswer) => void): void {
    const { epoch, endpoints, ...head } = introduction
    const { view } = this.#host.membership
    const { members } = view
    if (epoch !== view.epoch || endpoints.length !== members.length) {
      done(MOVED)
      return
    }
    const answers = new Map<number, PlainEndpoint>()
    let left = members.length
    const take = (rank: number, answer: unknown): void => {
      left -= 1
      if (isEndpoint(answer)) answers.set(rank, answer)
      if (left > 0) return
      const all = members.map((member) => answers.get(member)).filter((each) => each !== undefined)
      done(all.length === members.length ? all : MOVED)
    }
    for (const [index, rank] of members.entries()) {
      const part: IntroductionPart = { ...head, epoch, endpoint: endpoints[index]! }
      if (rank === this.#host.rank) take(rank, this.meet(part))
      else this.#host.ask(rank, part, (answer) => take(rank, answer))
    }
  }

  /** The candidate that came first and was not proposed may have ended. It begins again if it has not. */
  #makeRoom(): void {
    if (this.#candidates.size < CANDIDATES_MAX) return
    const { joining } = this.#host.membership
    const oldest = [...this.#candidates.keys()].find((candidate) => !joining.has(candidate))
    if (oldest !== undefined) this.#drop(oldest)
  }

  #drop(candidate: number): void {
    this.#candidates.delete(candidate)
    this.#host.mesh.drop(candidate)
  }
}

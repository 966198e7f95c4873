import type { RemoteEndpoint } from '../../../verbs/index.ts'
import { isIndex, isRecord, type Machine } from '../../hosts/index.ts'
import type { MembershipView } from '../membership-machine.ts'
import type { RankMember } from '../rank-member.ts'

/**
 * How a process joins a group that grows, by its name:
 *
 * ```
 * process that joins                  a member that listens         the other members
 *     | status ------------------------->|                             |
 *     |<----- view, cards of members ----|                             |
 *     | introduce: a queue pair for each>|--- ask: make ready for it ->|
 *     |<----- their queue pairs ---------|<----------------------------|
 *     | admit -------------------------->| candidate: in statements -->|
 *     |<===== the statements of the next view, from each that installed it
 * ```
 *
 * A late WRITE of a former member lands nowhere. A rank is given once. Its link has memory and a queue pair of its own,
 * which are given back when that queue pair was reset (see *Fencing* in mesh.ts). A process that comes back has
 * another rank and other links. Links to a candidate are dropped with the view that it was not admitted to. Memory of
 * `hardware` regions is not fenced: a former member that is stopped can store there until it has ended.
 *
 * A member that joins asks the lowest living rank for locks: that one keeps them.
 *
 * Members of several machines are connected over a network device, and each machine has a space of its own for them.
 */

/** A process that is a member of a group that grows, or wants to be one. */
export interface MemberCard extends Machine {
  readonly processId: number
  /** Its place in the space of its machine. */
  readonly slot: number
  readonly epoch: number
  /** Whether its machine has the address of a seed. */
  readonly isAtSeed: boolean
  /** The longest packet that its device sends, in bytes. */
  readonly mtuBytes: number
}

/** Whether the process number of `card` has a meaning for the process of `own`. */
export const isVisible = (own: MemberCard, card: MemberCard): boolean => own.processes === card.processes

/** The longest packet between the two, in bytes. */
export const pathMtuOf = (own: MemberCard, card: MemberCard): number => Math.min(own.mtuBytes, card.mtuBytes)

/** A member as the process of `own` sees it. */
export function rankMember(rank: number, card: MemberCard, own: MemberCard): RankMember {
  const { processId, host, slot, epoch, space } = card
  const member = space === own.space ? { slot, epoch, processId } : undefined
  return { rank, processId, host, member, pathMtu: pathMtuOf(own, card) }
}

/** What a member tells a process that wants to join. */
export interface GroupStatus {
  readonly view: MembershipView
  readonly given: number
  /** Of each member, in the order of the view. */
  readonly cards: readonly MemberCard[]
  readonly leaseMs: number
}

/** A candidate and how each member of a view reaches it. */
export interface Introduction {
  /** Its number, drawn at random. */
  readonly candidate: number
  /** It has made a connection for each member of this epoch. */
  readonly epoch: number
  readonly card: MemberCard
  /** In the order of the view. */
  readonly endpoints: readonly PlainEndpoint[]
}

/** What one member needs of an introduction. */
export interface IntroductionPart extends Omit<Introduction, 'endpoints'> {
  readonly endpoint: PlainEndpoint
}

/** How a member is reached by a candidate; null if it is in another epoch, or has too many candidates. */
export type IntroductionAnswer = PlainEndpoint | null

/** An endpoint as JSON. */
export interface PlainEndpoint extends Omit<RemoteEndpoint, 'gid'> {
  readonly gid: string
}

/** What a process that wants to join asks the agent of a member. */
export type DoorQuestion =
  | { readonly ask: 'status' }
  | { readonly ask: 'introduce'; readonly introduction: Introduction }
  | { readonly ask: 'admit'; readonly candidate: number; readonly epoch: number }

/** The epoch of the group is another: ask for its status again. */
export const MOVED = 'moved'

export type DoorAnswer = GroupStatus | readonly PlainEndpoint[] | 'proposed' | typeof MOVED

export const plainEndpoint = (endpoint: RemoteEndpoint): PlainEndpoint => ({ ...endpoint, gid: String(endpoint.gid) })
export const endpointOf = (plain: PlainEndpoint): RemoteEndpoint => ({ ...plain, gid: BigInt(plain.gid) })

/** Undefined if it is not such a question. */
export function readDoorQuestion(value: unknown): DoorQuestion | undefined {
  if (!isRecord(value)) return undefined
  const { ask, introduction, candidate, epoch } = value
  const fits =
    ask === 'status' ||
    (ask === 'introduce' && isIntroduction(introduction)) ||
    (ask === 'admit' && isCandidate(candidate) && isIndex(epoch))
  return fits ? (value as unknown as DoorQuestion) : undefined
}

function isIntroduction(value: unknown): value is Introduction {
  if (!isRecord(value)) return false
  const { endpoints } = value
  return isHead(value) && Array.isArray(endpoints) && endpoints.every(isEndpoint)
}

/** Whether a question of another agent is part of an introduction. */
export function isIntroductionPart(value: unknown): value is IntroductionPart {
  return isRecord(value) && isHead(value) && isEndpoint(value['endpoint'])
}

function isHead({ candidate, epoch, card }: Readonly<Record<string, unknown>>): boolean {
  return isCandidate(candidate) && isIndex(epoch) && isCard(card)
}

const isCandidate = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

function isCard(value: unknown): value is MemberCard {
  if (!isRecord(value)) return false
  const { processId, host, slot, epoch, space, processes, isAtSeed, mtuBytes } = value
  if (![host, space, processes].every((text) => typeof text === 'string' && text.length < 256)) return false
  return [processId, slot, epoch, mtuBytes].every(isIndex) && typeof isAtSeed === 'boolean'
}

export function isEndpoint(value: unknown): value is PlainEndpoint {
  if (!isRecord(value)) return false
  const { gid, queuePairNumber, psn } = value
  return typeof gid === 'string' && /^\d{1,40}$/.test(gid) && isIndex(queuePairNumber) && isIndex(psn)
}

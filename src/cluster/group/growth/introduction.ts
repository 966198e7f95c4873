import type { RemoteEndpoint } from '../../../verbs/index.ts'
import { isIndex, isRecord } from '../../hosts/index.ts'
import type { MembershipView } from '../membership-machine.ts'

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
 */

/** A process that is a member of a group that grows, or wants to be one. */
export interface MemberCard {
  readonly processId: number
  /** The name of its machine for people. */
  readonly host: string
  /** Its place in the group's space. */
  readonly slot: number
  readonly epoch: number
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
  const { processId, host, slot, epoch } = value
  return isIndex(processId) && typeof host === 'string' && host.length < 256 && isIndex(slot) && isIndex(epoch)
}

export function isEndpoint(value: unknown): value is PlainEndpoint {
  if (!isRecord(value)) return false
  const { gid, queuePairNumber, psn } = value
  return typeof gid === 'string' && /^\d{1,40}$/.test(gid) && isIndex(queuePairNumber) && isIndex(psn)
}

import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { Member } from '../member-table.ts'
import type { Membership } from '../membership.ts'
import { JoinError, MemberEndedError, MissingMembersError, ranksInWords } from './errors.ts'
import { decodeGroupCard, encodeGroupCard } from './group-card.ts'
import type { JoinPlan } from './group-options.ts'

/** A rank that has come to the space. */
interface Arrival {
  readonly rank: number
  readonly member: Member
  readonly processId: number
  readonly endpoint: RemoteEndpoint
}

/** The longest time between two looks, in case a ring was lost. */
const LOOK_AGAIN_MS = 250

/** Publish how this rank is reached, and wait until every rank has done so. Resolves with the others, by rank. */
export async function meet(
  membership: Membership,
  plan: JoinPlan,
  endpoints: readonly RemoteEndpoint[],
): Promise<Arrival[]> {
  membership.publish(encodeGroupCard({ rank: plan.rank, size: plan.size, endpoints }))
  const deadline = performance.now() + plan.timeoutMs
  const seen = new Map<number, Arrival>()
  for (;;) {
    plan.signal?.throwIfAborted()
    const peers = look(membership, plan, seen)
    if (peers.length === plan.size) return peers.filter((peer) => peer.rank !== plan.rank)
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) throw missing(plan, peers)
    await changed(membership, Math.min(leftMs, LOOK_AGAIN_MS), plan.signal)
  }
}

function look(membership: Membership, plan: JoinPlan, seen: Map<number, Arrival>): Arrival[] {
  const peers = new Map<number, Arrival>()
  for (const member of membership.members()) {
    const bytes = membership.card(member)
    const card = bytes && decodeGroupCard(bytes, plan.size)
    if (card === undefined) continue
    const { rank } = card
    if (peers.has(rank))
      throw new JoinError(
        `two processes claim to be rank ${rank}: ${peers.get(rank)?.processId} and ${member.processId}`,
      )
    peers.set(rank, { rank, member, endpoint: card.endpoints[plan.rank]!, processId: member.processId })
  }
  for (const { rank, member } of seen.values()) {
    if (!membership.isPresent(member))
      throw new MemberEndedError(
        [rank],
        `rank ${rank} (process ${member.processId}) ended before the group was complete`,
      )
  }
  for (const peer of peers.values()) seen.set(peer.rank, peer)
  return [...peers.values()].sort((a, b) => a.rank - b.rank)
}

function missing(plan: JoinPlan, peers: readonly Arrival[]): MissingMembersError {
  const here = new Set(peers.map((peer) => peer.rank))
  const ranks = Array.from({ length: plan.size }, (_, rank) => rank).filter((rank) => !here.has(rank))
  const message = `the group of ${plan.size} was not complete within ${plan.timeoutMs} ms: ${ranksInWords(ranks)} did not join`
  return new MissingMembersError(ranks, message)
}

function changed(membership: Membership, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop()
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const stop = membership.onRing(done)
    const timer = setTimeout(done, timeoutMs)
    signal?.addEventListener('abort', done, { once: true })
  })
}

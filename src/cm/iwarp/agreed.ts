import type { ConnectionParameters } from '../carrier.ts'
import type { MpaDepths, MpaFrame, ReadyMessage } from './mpa.ts'
import { MpaFault } from './terminate.ts'

/** Revision 1 does not say how many READs a peer takes. One is what every peer takes. */
export const UNSAID_DEPTH = 1
/** What we offer to show that a caller of ours is ready, the best first. */
export const READY_MESSAGES: readonly ReadyMessage[] = ['write', 'read', 'send']

/** What both ends of a connection hold to (RFC 6581, 9). */
export interface Agreed {
  /** READs of the peer that may be under way here, and of this end there. */
  readonly ird: number
  readonly ord: number
  readonly ready: ReadyMessage
}

/** What the caller makes of a reply to its request, or why it has to end the stream. */
export function agreedByReply(own: ConnectionParameters, { depths }: MpaFrame): Agreed | MpaFault {
  const { responderResources: ird, initiatorDepth } = own
  if (depths === undefined) return { ird, ord: Math.min(initiatorDepth, UNSAID_DEPTH), ready: 'none' }
  // It will not keep to what it was told.
  if (depths.ord > ird) return MpaFault.InsufficientIrd
  const ord = Math.min(initiatorDepth, depths.ird)
  if (!depths.peerToPeer) return { ird, ord, ready: 'none' }
  const ready = depths.ready.find((each) => READY_MESSAGES.includes(each))
  return ready === undefined ? MpaFault.NoMatchingReady : { ird, ord, ready }
}

/** What the end that was called says to these depths of a request. Undefined where the request has none. */
export function depthsOfReply(own: ConnectionParameters, asked: MpaDepths | undefined): MpaDepths | undefined {
  if (asked === undefined) return undefined
  const ready = READY_MESSAGES.filter((each) => asked.ready.includes(each)).slice(0, 1)
  return {
    ird: own.responderResources,
    ord: Math.min(own.initiatorDepth, asked.ird),
    peerToPeer: ready.length > 0,
    ready,
  }
}

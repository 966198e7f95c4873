import { AetherError, messageOfThrown } from '../native/index.ts'

/**
 * Why a link ended:
 *
 * - `lost`: the peer is gone, or cannot be reached.
 * - `protocol`: the peer broke the rules of the ring.
 * - `incompatible`: the peer speaks another version, or is not an endpoint of this kind.
 * - `destroyed`: this end gave the link up.
 * - `handler`: a handler threw.
 * - `full`: the listener has as many connections as it lets in.
 */
export type LinkErrorReason = 'lost' | 'incompatible' | 'protocol' | 'destroyed' | 'handler' | 'full'

/** A link ended without being closed. */
export class LinkError extends AetherError {
  override readonly name = 'LinkError'
  readonly reason: LinkErrorReason
  /** `none`: the peer has confirmed everything that was sent. `unknown`: the last messages may have arrived or not. */
  readonly outcome: 'none' | 'unknown'

  constructor(reason: LinkErrorReason, outcome: 'none' | 'unknown', message: string, options?: ErrorOptions) {
    const advice =
      outcome === 'none'
        ? 'nothing was under way'
        : 'the last messages may or may not have arrived; ask the peer before repeating them'
    super('ERR_AETHER_LINK', `${message}; ${advice}`, options)
    this.reason = reason
    this.outcome = outcome
  }
}

/** The peer sent something that breaks the rules; the link turns it into a LinkError. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation'
}

/** The error that a link ends with because of `cause`, which is not an error of this room. */
export function linkErrorOf(cause: unknown, outcome: 'none' | 'unknown'): LinkError {
  const why = messageOfThrown(cause)
  if (cause instanceof ProtocolViolation)
    return new LinkError('protocol', outcome, `the peer broke the rules of the ring: ${why}`, { cause })
  if (cause instanceof AetherError) return new LinkError('lost', outcome, `the link failed: ${why}`, { cause })
  return new LinkError('handler', outcome, `a handler of the link threw: ${why}`, { cause })
}

import { AetherError, messageOfThrown } from '../native/index.ts'

/**
 * Why a link ended: `lost`, the peer or the way to it is gone; `protocol`, the peer broke the rules of the ring;
 * `incompatible`, it speaks another version, or is no endpoint of this kind; `destroyed`, this end gave it up;
 * `handler`, a handler threw; `full`, the listener has as many connections as it lets in.
 */
export type LinkErrorReason = 'lost' | 'incompatible' | 'protocol' | 'destroyed' | 'handler' | 'full'

/** A link ended without being closed. */
export class LinkError extends AetherError {
  override readonly name = 'LinkError'
  readonly reason: LinkErrorReason
  /**
   * `none`: nothing had been sent of which the peer has not told that it took it; `unknown`: what was sent last may
   * have arrived, or not.
   */
  readonly outcome: 'none' | 'unknown'

  constructor(reason: LinkErrorReason, outcome: 'none' | 'unknown', message: string, options?: ErrorOptions) {
    const advice =
      outcome === 'none'
        ? 'nothing was under way'
        : 'whether the last messages arrived is not known; ask the peer before repeating them'
    super('ERR_AETHER_LINK', `${message}; ${advice}`, options)
    this.reason = reason
    this.outcome = outcome
  }
}

/** What the peer sent breaks the rules; the link turns it into a LinkError. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation'
}

/** What a link ends with because of `cause`, which is none of this room's errors. */
export function linkErrorOf(cause: unknown, outcome: 'none' | 'unknown'): LinkError {
  const why = messageOfThrown(cause)
  if (cause instanceof ProtocolViolation)
    return new LinkError('protocol', outcome, `the peer broke the rules of the ring: ${why}`, { cause })
  if (cause instanceof AetherError) return new LinkError('lost', outcome, `the link failed: ${why}`, { cause })
  return new LinkError('handler', outcome, `a handler of the link threw: ${why}`, { cause })
}

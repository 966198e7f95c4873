import { mustBe } from '../../native/index.ts'

/** Limits of a context of peers. Each has a default. */
export interface PeerLimits {
  /** Peers besides this one; default 1024. */
  readonly peersMax?: number
  /**
   * Collectives of a group that may be under way at a time. It also bounds how far one rank may be ahead of another to
   * which it sends bytes. Default 64. All peers use the same.
   */
  readonly requestsMax?: number
  /**
   * Bytes of a collective that a peer may send before this rank has called it; default 16 KiB. All peers use the same.
   */
  readonly eagerBytes?: number
  /**
   * Groups that one peer may begin before they are made here; default 64. For each, at most `requestsMax` times
   * `eagerBytes` are kept, so by default 64 MiB for a peer, allocated as they come. A peer that begins more is
   * disconnected.
   */
  readonly earlyGroupsMax?: number
  /** Bytes of messages from one peer that may wait to be received; default 256 KiB. */
  readonly messageWindowBytes?: number
  /** The longest message, sent or received; default 64 MiB. */
  readonly messageBytesMax?: number
  /**
   * How long a connecting peer may take until the connection is made, and then to say who it is; default 30,000. At
   * most `peersMax` may be silent at a time.
   */
  readonly greetingTimeoutMs?: number
}

const leasts: Partial<Record<keyof PeerLimits, number>> = { messageWindowBytes: 4096 }

const defaults = {
  peersMax: 1024,
  requestsMax: 64,
  eagerBytes: 16 * 1024,
  earlyGroupsMax: 64,
  messageWindowBytes: 256 * 1024,
  messageBytesMax: 64 * 1024 * 1024,
  greetingTimeoutMs: 30_000,
} as const

/** The limits with their defaults. @throws ArgumentError */
export function peerLimits(options: PeerLimits): Required<PeerLimits> {
  const limits: Record<keyof PeerLimits, number> = { ...defaults }
  for (const name of Object.keys(defaults) as (keyof PeerLimits)[]) {
    const value = options[name] ?? limits[name]
    const least = leasts[name] ?? 1
    if (!(Number.isInteger(value) && value >= least && value <= 2 ** 30))
      throw mustBe(name, `an integer from ${least} to 2^30`, value)
    limits[name] = value
  }
  return limits
}

import { ArgumentError } from '../../native/index.ts'

/** What a context of peers may take; each with a default, none built in. */
export interface PeerLimits {
  /** Peers besides this one; default 1024. */
  readonly peersMax?: number
  /**
   * Collectives of a group that may be under way at a time, and by how many one rank may be ahead of another to which
   * it sends bytes; default 64. All peers use the same.
   */
  readonly requestsMax?: number
  /**
   * Bytes of a collective that a peer may send before this rank has called it; default 16 KiB. All peers use the same.
   */
  readonly eagerBytes?: number
  /**
   * Groups that one peer may begin before they are made here; default 64. Of each `requestsMax` times `eagerBytes` are
   * kept at most, so by default 64 MiB of a peer in all, taken as they come. One that begins more is disconnected.
   */
  readonly earlyGroupsMax?: number
  /** Bytes of messages from one peer that may wait to be received; default 256 KiB. */
  readonly messageWindowBytes?: number
  /** The longest message, sent or received; default 64 MiB. */
  readonly messageBytesMax?: number
  /**
   * How long one that connects here may take until the connection stands, and then to say who it is; default 30,000. As
   * many as `peersMax` may be silent at a time.
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

/** With the defaults. @throws ArgumentError */
export function peerLimits(options: PeerLimits): Required<PeerLimits> {
  const limits: Record<keyof PeerLimits, number> = { ...defaults }
  for (const name of Object.keys(defaults) as (keyof PeerLimits)[]) {
    const value = options[name] ?? limits[name]
    const least = leasts[name] ?? 1
    if (!(Number.isInteger(value) && value >= least && value <= 2 ** 30))
      throw new ArgumentError(name, `${name} is a whole number from ${least} to 2^30, not ${value}`)
    limits[name] = value
  }
  return limits
}

import { type Frame, FrameKind } from './frame.ts'
import type { PeerLimits } from './limits.ts'

/** What a peer said to a group; of a stream, all that has come in one piece. */
export interface EarlyFrame {
  readonly peer: number
  readonly frame: Frame
  readonly bytes: Uint8Array
}

/** Why something is not kept. */
export interface Refused {
  readonly why: string
  /** True if it may be valid, but is more than is kept here. */
  readonly isLimit: boolean
}

interface Kept {
  frame: Frame
  readonly bytes: Uint8Array
  length: number
}

/** By what it is about, in the order in which it was said last. */
type Said = Map<string, Kept>

/** Of a collective that is under way: its stream, a grant, a question and an announcement. */
const FRAMES_PER_REQUEST = 4
/** One of each kind that is about no collective, and of each step of an agreement. */
const FRAMES_BESIDES = 16

/**
 * What peers say to groups that are not made here yet, because the others have already begun. For each peer it keeps
 * `earlyGroupsMax` groups, and for each group what an obedient peer can say before this rank has its say. That is at
 * most `requestsMax` collectives, with `eagerBytes` of each. Repetitions take no more room.
 */
export class EarlyFrames {
  readonly #limits: Required<PeerLimits>
  /** By group, then by peer. */
  readonly #groups = new Map<number, Map<number, Said>>()
  /** In how many groups there is something of each peer. */
  readonly #counts = new Map<number, number>()

  constructor(limits: Required<PeerLimits>) {
    this.#limits = limits
  }

  /** Undefined if it is kept, in memory of its own. */
  keep(peer: number, frame: Frame, bytes: Uint8Array, at: number, length: number): Refused | undefined {
    const { earlyGroupsMax, requestsMax } = this.#limits
    const said = this.#groups.get(frame.group)?.get(peer) ?? this.#begin(peer, frame.group)
    if (said === undefined)
      return {
        why: `it has begun more than ${earlyGroupsMax} groups that are not made here; see earlyGroupsMax`,
        isLimit: true,
      }
    const key = keyOf(frame, bytes, at, length)
    const before = said.get(key)
    if (before === undefined && said.size >= FRAMES_PER_REQUEST * requestsMax + FRAMES_BESIDES)
      return broken('it has begun more than requestsMax collectives of a group')
    if (frame.kind === FrameKind.Data) return this.#append(said, key, before, frame, bytes.subarray(at, at + length))
    said.delete(key)
    said.set(key, { frame, bytes: bytes.slice(at, at + length), length })
    return undefined
  }

  /** True if something of this peer is kept. */
  has(peer: number): boolean {
    return (this.#counts.get(peer) ?? 0) > 0
  }

  /** Everything that was said to a group, which is made now. */
  take(group: number): readonly EarlyFrame[] {
    const peers = this.#groups.get(group)
    if (peers === undefined) return []
    this.#groups.delete(group)
    return [...peers].flatMap(([peer, said]) => {
      this.#count(peer, -1)
      return [...said.values()].map(({ frame, bytes, length }) => ({ peer, frame, bytes: bytes.subarray(0, length) }))
    })
  }

  /** The peer has gone; if its number comes back, it is another peer. */
  forget(peer: number): void {
    this.#counts.delete(peer)
    for (const [group, peers] of this.#groups) if (peers.delete(peer) && peers.size === 0) this.#groups.delete(group)
  }

  #begin(peer: number, group: number): Said | undefined {
    if ((this.#counts.get(peer) ?? 0) >= this.#limits.earlyGroupsMax) return undefined
    this.#count(peer, 1)
    const peers = this.#groups.get(group) ?? new Map<number, Said>()
    const said: Said = new Map()
    this.#groups.set(group, peers.set(peer, said))
    return said
  }

  #count(peer: number, by: number): void {
    this.#counts.set(peer, (this.#counts.get(peer) ?? 0) + by)
  }

  #append(said: Said, key: string, before: Kept | undefined, frame: Frame, bytes: Uint8Array): Refused | undefined {
    const most = Math.min(frame.amount, this.#limits.eagerBytes)
    const held = before?.length ?? 0
    if (!(held + bytes.length <= most)) return broken('it sends more of a collective than eagerBytes, or than it said')
    if (before !== undefined && (before.frame.signature !== frame.signature || before.frame.amount !== frame.amount))
      return broken('it calls one collective by two names')
    const kept = before ?? { frame, bytes: new Uint8Array(most), length: 0 }
    kept.bytes.set(bytes, held)
    kept.length += bytes.length
    kept.frame = frame
    said.set(key, kept)
    return undefined
  }
}

function broken(why: string): Refused {
  return { why, isLimit: false }
}

/** What a repetition replaces. Each step of an agreement is complete, and has not been asked for here. */
function keyOf({ kind, sequence }: Frame, bytes: Uint8Array, at: number, length: number): string {
  return kind === FrameKind.Agree ? `${kind} ${length > 0 ? bytes[at] : ''}` : `${kind} ${sequence}`
}

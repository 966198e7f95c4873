/**
 * The frames between peers: messages of a link whose kind is a {@link FrameKind}. `immediate` is the number of the last
 * collective of the group that is done at the sender, with all before it. The bytes are
 *
 *     0   u32   sequence: which collective of the group; of a message, its number
 *     4   u32   signature: what the sender called
 *     8   f64   group
 *    16   f64   amount: see the kind
 *    24         payload
 *
 * in host byte order: verbs connect machines of one byte order here.
 */
export const FRAME_BYTES = 24

export const FrameKind = {
  /** Bytes of a collective, next in the stream of sender to receiver; amount: how many bytes the whole stream has. */
  Data: 0,
  /** Permission to send bytes of the stream; amount: their number, counted from its start. */
  Grant: 1,
  /** Tell me when this collective is done at yours. */
  Ask: 2,
  /** Nothing but its `immediate`. */
  Progress: 3,
  /** I wait for you in this collective; amount: how many bytes I expect in all. */
  Announce: 4,
  /** The group has failed; payload: why, as JSON. */
  Abort: 5,
  /**
   * I have closed the group; sequence: the first collective in which I have no part; 1 over a link that was made since.
   */
  Leave: 6,
  /** Bytes of a message of a program; amount: its length. */
  Message: 7,
  /** Permission to send bytes of messages; amount: their number, counted from the start of the link. */
  MessageGrant: 8,
  /**
   * The first frame of a link; sequence: the sender's number, signature: the version, amount: its window for messages.
   */
  Hello: 9,
  /** You are let in, as far as this end is concerned. */
  Welcome: 10,
  /**
   * You are turned away; sequence: what sort of reason, signature: the sender's number, payload: the reason as text.
   * The link is closed behind it.
   */
  Refuse: 11,
  /** Part of the agreement on which members go on; payload: see `agreement-message.ts`. */
  Agree: 12,
} as const

/** True if the sender of such a frame to a group takes part in it, and waits for others, or will. */
export function takesPart(kind: number): boolean {
  return kind === FrameKind.Data || kind === FrameKind.Grant || kind === FrameKind.Ask || kind === FrameKind.Announce
}

export interface Frame {
  readonly kind: number
  readonly sequence: number
  readonly signature: number
  readonly group: number
  readonly amount: number
  readonly done: number
}

/** Reads and writes frames in one ring, without an object for each. */
export class FrameView {
  readonly bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #amounts: Float64Array

  /** `bytes` starts at a multiple of 8, and so do all frames in it. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
    this.#amounts = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 3)
  }

  write(at: number, sequence: number, signature: number, group: number, amount: number): void {
    this.#words[at >>> 2] = sequence
    this.#words[(at >>> 2) + 1] = signature
    this.#amounts[(at >>> 3) + 1] = group
    this.#amounts[(at >>> 3) + 2] = amount
  }

  read(at: number, kind: number, done: number): Frame {
    return {
      kind,
      sequence: this.#words[at >>> 2]!,
      signature: this.#words[(at >>> 2) + 1]!,
      group: this.#amounts[(at >>> 3) + 1]!,
      amount: this.#amounts[(at >>> 3) + 2]!,
      done,
    }
  }
}

/** How far number `a` is behind number `b`, around 2^32; negative where it is before. */
export function behind(a: number, b: number): number {
  return (a - b) | 0
}

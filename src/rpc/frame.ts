/**
 * The format of frames. Every message of a link is one frame, in the byte order of the hosts (little-endian on all
 * supported ones):
 *
 * ```
 *  0        1        2                 4                 8                 12                16
 * ┌────────┬────────┬─────────────────┬─────────────────┬─────────────────┬─────────────────┬───────────┬──────┐
 * │ kind   │ flags  │ extension bytes │ call            │ word            │ budget          │ extension │ body │
 * │ u8     │ u8     │ u16             │ u32             │ u32             │ u32             │           │      │
 * └────────┴────────┴─────────────────┴─────────────────┴─────────────────┴─────────────────┴───────────┴──────┘
 * ```
 *
 * `call` is the caller's slot in its low 16 bits and how often the slot was used in the high 16. A slot is free again
 * only when the server's last frame for the call has come, so an answer never meets another call. {@link FrameKind}
 * defines `word` and `budget`. An extension is a sequence of entries: tag u8, 0, length u16, bytes.
 */

/** A body without bytes. */
export const NO_BYTES: Uint8Array = new Uint8Array(0)

/** Bytes before the extension. */
export const HEADER_BYTES = 16

/** Kinds of frames. "Last" ends the call: after it the server sends nothing more about it. */
export const FrameKind = {
  /**
   * First message of either end. Call, of the client: a random number by which traces identify its connection. Word:
   * {@link PROTOCOL_VERSION}. Budget: items of a stream that this end takes before it gives credit. Body, of the
   * server: its incarnation.
   */
  Hello: 1,
  /**
   * To the server. Word: the method; budget: microseconds left, {@link NO_BUDGET} for no limit; body: the request, none
   * if a stream of requests follows.
   */
  Request: 2,
  /** To the client, last. Body: the answer. */
  Answer: 3,
  /** To the client, last. Word: a {@link FailureCode}; body: message, reason and details. */
  Failure: 4,
  /** Either way: the next item of a stream. */
  Item: 5,
  /** Either way: the stream is complete. Of the server's stream: last. */
  End: 6,
  /** Either way. Word: how many more items may be sent. */
  Credit: 7,
  /** To the server: no caller waits any more. Any last frame answers it. */
  Cancel: 8,
  /** Either way: the next bytes of the long body that was begun for this call. */
  Part: 9,
  /** Either way. Answered by Pong with the same word. */
  Ping: 10,
  /** Budget: calls that run at the server; call: 1 if it drains. */
  Pong: 11,
  /** To the client: calls that come from now on are refused. */
  Drain: 12,
  /** Either way: the body offered for this call has been fetched, or is not wanted. */
  Fetched: 13,
} as const

/** Flags of a frame. */
export const FrameFlag = {
  /** More of the body follows in frames of kind Part; the extension has the whole length. */
  More: 1,
  /** Of Request and Answer: the body lies in memory of the sender, which the extension names. Answered by Fetched. */
  Offered: 2,
} as const

/** Entries of an extension; unknown ones are skipped. */
export const ExtensionTag = {
  /** u32: bytes of the whole body. */
  TotalBytes: 1,
  /** JSON: an object of strings. */
  Metadata: 2,
  /** The idempotency key, in UTF-8. */
  Key: 3,
  /**
   * f64, f64: incarnation of the server to which the call first went, and how many milliseconds ago. Only in
   * repetitions.
   */
  Repeated: 4,
  /** f64, f64, u32: address and length of the caller's memory that the handler may read, and the key. */
  Source: 5,
  /** The same for memory that it may write. */
  Target: 6,
  /** The same for the frame's body, if it is offered. */
  Body: 7,
} as const

/** Why a call failed, as reported by the server. */
export const FailureCode = {
  Service: 1,
  Handler: 2,
  UnknownMethod: 3,
  InvalidRequest: 4,
  Overloaded: 5,
  Draining: 6,
  Deadline: 7,
  Cancelled: 8,
  TooLarge: 9,
  InvalidResponse: 10,
  Forgotten: 11,
} as const

/** Both ends must have the same. */
export const PROTOCOL_VERSION = 4
/** A call without a time limit; others have fewer microseconds, unsigned. */
export const NO_BUDGET = -1

/** Calls of one link at a time: the width of a slot. */
export const SLOTS_MAX = 0x1_0000
/** Extension of one frame, in bytes. */
export const EXTENSION_BYTES_MAX = 16_384
/** Metadata of one call or answer, in bytes of JSON. */
export const METADATA_BYTES_MAX: number = EXTENSION_BYTES_MAX / 2
/** An idempotency key, in bytes of UTF-8. */
export const KEY_BYTES_MAX = 128

/** How a method is called. Places are part of its number. */
export const METHOD_KINDS = ['unary', 'server-stream', 'client-stream', 'bidirectional', 'rdma'] as const
export type MethodKind = (typeof METHOD_KINDS)[number]

const KIND_MASK = 7

/**
 * A method's number is a hash of its names (FNV-1a, 29 bits) above its kind (3 bits). Both ends know it without having
 * talked. Ends whose contracts have different kinds of one method use different numbers.
 */
export function methodNumber(service: string, method: string, kind: MethodKind): number {
  let hash = 0x811c_9dc5
  for (const byte of Buffer.from(`${service}/${method}`)) hash = Math.imul(hash ^ byte, 0x0100_0193)
  return (hash & ~KIND_MASK) | METHOD_KINDS.indexOf(kind)
}

/** The numbers that a method of the same names may have, by kind. */
export function numbersOfKinds(number: number): ReadonlyMap<MethodKind, number> {
  return new Map(METHOD_KINDS.map((kind, place) => [kind, (number & ~KIND_MASK) | place]))
}

/** The kind of the method with this number. Undefined: none has it. */
export function kindOfNumber(number: number): MethodKind | undefined {
  return METHOD_KINDS[number & KIND_MASK]
}

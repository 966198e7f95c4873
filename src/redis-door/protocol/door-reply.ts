import type { Reply } from '../../index-service/index.ts'

/** What the door answers besides what the index does. */
export type DoorReply =
  | Reply
  /** An array that is null: RESP2 tells it from a bulk string that is. */
  | typeof NULL_ARRAY
  /** There is none: it was sent already, or comes later. */
  | typeof NO_REPLY
  /** An error that INFO counts already. */
  | { readonly fault: string; readonly message: string; readonly isCounted: true }
  /** Text for people. RESP2 has it as a bulk string. */
  | { readonly verbatim: string }
  /** The same in a format of three letters, such as `mkd`. */
  | { readonly formatted: Uint8Array; readonly format: string }
  /** A number of any length. RESP2 has it as a bulk string. */
  | { readonly bigNumber: string }
  /** True or false. RESP2 has it as 1 or 0. */
  | { readonly truth: boolean }
  /** What comes unasked. RESP2 has it as an array. */
  | { readonly push: readonly DoorReply[] }
  /** A list of what only the door has. */
  | { readonly list: readonly DoorReply[] }
  /** A map, one behind the other, of what only the door has. RESP2 has it as an array. */
  | { readonly table: readonly DoorReply[] }

/** Of those, what is an object with a name for what it is. */
export type TaggedReply = Exclude<
  DoorReply,
  | null
  | number
  | bigint
  | string
  | symbol
  | Uint8Array
  | readonly Reply[]
  | ReadonlyMap<Reply, Reply>
  | ReadonlySet<Reply>
>

export const NULL_ARRAY: unique symbol = Symbol('null array')
export const NO_REPLY: unique symbol = Symbol('no reply')

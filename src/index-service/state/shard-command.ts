import type { Reply } from '../commands/reply.ts'

/** A command of Redis with its arguments. */
export interface Call {
  /** In any case. */
  readonly name: string
  readonly args: readonly Uint8Array[]
  /** The database; absent: 0. */
  readonly db?: number
  /** A number of the caller's choice, by which those who are told of changes know their own. It is above 0. */
  readonly origin?: number
}

/** Calls as they lie in the log, one behind the other: see `shard-codec.ts`. They are about database 0. */
export interface PackedCalls {
  readonly count: number
  readonly bytes: Uint8Array
}

/** A key that may not have changed since its version was read. */
export interface Watched {
  readonly key: Uint8Array
  readonly version: number
  /** The database; absent: 0. */
  readonly db?: number
}

/**
 * What a shard is told through its log.
 *
 * - `calls` are run one after the other with nothing in between. If a watched key has changed, none is run. A single
 *   call with a `waiter` may wait. The number is unique among all processes, and the caller's to choose. Calls that
 *   are `apart` have nothing to do with each other: those that wait are served after each of them, not after the last.
 *   Above the `bound` in bytes, those that may need memory are refused; it counts if it is less than the shard's own.
 *   Calls that are `admitted` are what programs did, which looked at the memory before: none is refused for want of it.
 * - `packed` are calls that are bytes already, without anything else to say.
 * - `expire` removes keys that have expired.
 * - `evict` removes keys to make room, each if it has not changed since its version was read.
 * - `cancel` ends a call that waits: its time is over, or its caller is gone.
 * - `forget` drops what was served to waiters, once their callers have it or are gone.
 */
export type ShardCommand =
  | {
      readonly calls: readonly Call[]
      readonly watched?: readonly Watched[]
      readonly waiter?: number
      readonly apart?: boolean
      readonly admitted?: boolean
      readonly bound?: number
    }
  | { readonly packed: PackedCalls; readonly apart?: boolean; readonly bound?: number }
  | { readonly expire: true }
  | { readonly evict: readonly Watched[] }
  | { readonly cancel: number }
  | { readonly forget: readonly number[] }

/**
 * What a shard answers.
 *
 * - Calls: a reply for each; `null` if a watched key has changed; `waiting` if the call waits.
 * - `expire`: how many keys were removed, and when the next one expires (Infinity: none does).
 * - `evict`: how many keys were removed, with those that had expired.
 * - `cancel`: what was `served` to the waiter meanwhile, or that it waited until now, or that it is unknown.
 * - `forget`: how many were known.
 */
export type ShardAnswer =
  | readonly Reply[]
  | null
  | { readonly waiting: true }
  | { readonly expired: number; readonly nextMs: number }
  | { readonly evicted: number }
  | { readonly served: Reply }
  | { readonly cancelled: boolean }
  | { readonly forgotten: number }

import { Errno, VerbsError } from '../errors.ts'
import type { Advice, AdvisedRange } from '../memory-contract.ts'
import type { Backing } from './backings.ts'
import { MAX_KEYS } from './limits.ts'

/** What every key has. */
export interface KeyFields {
  readonly key: number
  readonly address: number
  readonly length: number
  readonly access: number
  readonly domainId: number
}

/** A memory window's key: part of the region `baseKey`, starting at the region's address `baseAddress`. */
export interface KeyedWindow extends KeyFields {
  readonly baseKey: number
  readonly baseAddress: number
  /** The only queue pair that it may be used through, or 0. */
  readonly queuePair: number
}

/** What a work request can revoke. */
export interface Invalidatable {
  /** Returns a CompletionStatus, or Outcome.PeerInside while a peer is inside. */
  invalidate(key: number, pairNumber: number, domainId: number): number
}

/** The keys of one device. How memory is found by them is the medium's. */
export interface Keys {
  /**
   * Take a key that gives access to nothing yet; ENOMEM if all are taken. `holder` is called when a work request
   * invalidates it.
   */
  reserve(verb: string, holder?: Invalidatable): number
  publishRegion(fields: KeyFields, backing: Backing): void
  publishWindow(entry: KeyedWindow): void
  /** True if peers find something under the key: a peer may have revoked a window's. */
  isPublished(key: number): boolean
  /** From now on the key gives access to nothing. It stays taken. */
  withdraw(key: number): void
  /** Withdraw the key, and free it. */
  release(key: number): void
  /** What handles the invalidation of a key, or undefined if it cannot be invalidated. */
  holder(key: number): Invalidatable | undefined
  /** ibv_advise_mr(3), for one range in a protection domain. */
  advise(domainId: number, advice: Advice, range: AdvisedRange): void
}

/**
 * A key consists of ten random bits, the index of its entry (14 bits), and eight bits that change at every use of the
 * entry. For memory windows of type 2 the consumer chooses those eight. `below` draws a number from 0 on.
 */
export function makeKey(index: number, below: (limit: number) => number): number {
  return ((below(1 << 10) << 22) | (index << 8) | (1 + below(255))) >>> 0
}

export function keyIndex(key: number): number {
  return (key >>> 8) & (MAX_KEYS - 1)
}

export function noKeyLeft(verb: string): VerbsError {
  const what = `all ${MAX_KEYS} keys of this device are in use; close some memory`
  return new VerbsError(verb, Errno.ENOMEM, what)
}

import type { Advice, AdvisedRange } from '../memory-contract.ts'
import type { Backing } from './backings.ts'

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

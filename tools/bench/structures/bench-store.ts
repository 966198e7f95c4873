import type { CoherenceKind } from 'aether-dsm/internal/dsm'

/** What is compared. */
export const storeNames = ['aether', 'Map', 'Redis', 'lmdb'] as const
export type StoreName = (typeof storeNames)[number]

/** Coherent memory, by its kind: what `aether bench ops` measures beside stores. */
export type RegionName = Extract<CoherenceKind, 'hardware' | 'directory'>
export const regionNames: readonly RegionName[] = ['hardware', 'directory']

/**
 * One operation each, on a value that is given once; what gives a promise is awaited. A store has those that are
 * natural to it.
 */
export interface StoreOperations {
  get(key: string): unknown
  set(key: string): unknown
  /** Replace a value by one that depends on it, in one step. */
  update(key: string): unknown
  push?(): unknown
  pop?(): unknown
  /** Add one to a number. */
  add?(): unknown
}

/** A store as one process holds it. */
export interface BenchStore {
  /** Whether operations give promises. */
  readonly waits: boolean
  /** What it does with values like this one, of which it keeps a copy if it has to. */
  operations(value: Uint8Array): StoreOperations
  /** Do many operations in one transaction, where each is one of its own otherwise. */
  batch?(operations: () => void): void
  /** Forget everything. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Where the processes of a run meet. */
export interface Meeting {
  readonly space: string
  readonly directory: string
  /** How many they are, and the length of a value: coherent memory has to know first. */
  readonly processes?: number
  readonly bytes?: number
}

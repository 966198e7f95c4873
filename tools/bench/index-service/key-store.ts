import type { PeerName } from '../peers/peer-name.ts'

/** What is compared: a client of the index, and what does the like. `structures` is a map of shared memory. */
export type KeysName = 'aether' | 'structures' | Extract<PeerName, 'Redis' | 'lmdb'>

/** Fields of a hash, by their names. */
export type Fields = Readonly<Record<string, Uint8Array>>

/**
 * Data by key as one process uses it. What gives a promise is awaited. A store has those operations that are natural to
 * it; all are done as soon as an ordinary program of it can.
 */
export interface KeyStore {
  /** Whether operations give promises. */
  readonly waits: boolean
  get(key: string): unknown
  set(key: string, value: Uint8Array): unknown
  /** Store one value at all of these keys, in as few calls as there can be. */
  setAll(keys: readonly string[], value: Uint8Array): Promise<void>
  /** Add one to a number. */
  increment?(key: string): unknown
  /** One field of a hash. */
  field?(key: string, field: string): unknown
  /** All fields of a hash. */
  record?(key: string): unknown
  setFields?(key: string, fields: Fields): unknown
  /** Store a value at a place in an order. */
  insert?(place: number, value: Uint8Array): unknown
  /** Values from a place on, in order; how many there were. */
  range?(from: number, count: number): Promise<number>
  close(): Promise<void>
}

/** Where the processes of a run find what they measure. */
export interface KeysPlace {
  /** Of the index, and of the space of structures. */
  readonly name: string
  /** Of the socket of Redis, and the files of lmdb. */
  readonly directory: string
}

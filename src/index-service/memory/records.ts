/** Where a shard keeps bytes by key. */
export interface Records {
  /** A view into the memory, valid until the next change. */
  get(key: Uint8Array): Uint8Array | undefined
  set(key: Uint8Array, value: Uint8Array): void
  delete(key: Uint8Array): boolean
  readonly size: number
  /** What keys and values in use take. */
  readonly usedBytes: number
  clear(): void
  /** Readers from outside find the records of one database where those of the other one were. */
  swapSpaces(one: number, other: number): void
  /** Keys (copies) from a cursor on, for SCAN: every key that stays is visited; 0 begins, 0 ends. */
  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] }
}

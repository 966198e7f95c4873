/** What the immediates of `aether bench messaging` ask for. */
export const Mark = {
  /** Answer with the same bytes. */
  Echo: 1,
  /** Say that everything up to here has come. */
  Ask: 2,
  Seen: 3,
  /** Spin from now on. */
  Spin: 4,
  /** Back to the event loop. */
  Rest: 5,
} as const

/** A ring that takes the longest message measured. */
export const PEER_OPTIONS: { readonly ringBytes: number; readonly closeTimeoutMs: number } = {
  ringBytes: 4 << 20,
  closeTimeoutMs: 1000,
}

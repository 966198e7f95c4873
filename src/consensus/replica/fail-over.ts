/** How a process came to lead. Its stages are in milliseconds since it found that no one led, or was asked to lead. */
export interface FailOver {
  readonly term: number
  /** When that was: milliseconds since 1970. */
  readonly atMs: number
  /** It asked for promises. */
  readonly campaignMs: number
  /** A majority had promised. */
  readonly promisedMs: number
  /** All that was accepted before was adopted. */
  readonly caughtUpMs: number
  /** Its first entry was decided. */
  readonly decidedMs: number
}

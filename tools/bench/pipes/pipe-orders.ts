import type { Said } from '../ask-process.ts'

/** What the far end of a pipe does with messages from now on; they are `bytes` long. */
export type PipeOrder =
  /** Send back one of the same length for each. */
  | { readonly mode: 'echo'; readonly bytes: number }
  /** Say with one byte that `every` have come. */
  | { readonly mode: 'sink'; readonly bytes: number; readonly every: number }

export type FromFarEnd =
  | (Said & { readonly kind: 'opened'; readonly told: number })
  | (Said & { readonly kind: 'ready' })
  | (Said & { readonly kind: 'failed' })

import type { RegionToken, RemoteEndpoint } from 'aether-dsm/internal/verbs'

/** What the two processes of a benchmark tell each other by IPC, outside of what is measured. */
export type ToPeer =
  | { readonly kind: 'open'; readonly device: string; readonly bytes: number }
  | { readonly kind: 'connect'; readonly endpoint: RemoteEndpoint }
  /** Answer every message with one of the same length until one with an immediate comes. */
  | { readonly kind: 'echo'; readonly bytes: number }
  /**
   * Answer every WRITE with an immediate by one of the same length into the memory, until one comes with
   * {@link DriveMark.End}.
   */
  | { readonly kind: 'write-back'; readonly bytes: number; readonly token: RegionToken }
  /** Take every message without answering until one with an immediate comes. */
  | { readonly kind: 'sink'; readonly bytes: number }
  /**
   * Answer every WRITE into the memory, seen by its last byte, with a WRITE of the same length; until a message with an
   * immediate comes.
   */
  | { readonly kind: 'watch'; readonly bytes: number; readonly token: RegionToken }
  /** Post windows of WRITEs into the memory, or READs of it, until a message with {@link DriveMark.End} comes. */
  | { readonly kind: 'drive'; readonly op: 'write' | 'read'; readonly bytes: number; readonly token: RegionToken }
  | { readonly kind: 'cpu' }
  | { readonly kind: 'ipc'; readonly payload: Uint8Array }

/** What the other end did between the two marks: operations, how long it took, and its processor time. */
export interface Driven {
  readonly operations: number
  readonly tookNs: number
  readonly cpuNs: number
}

export type FromPeer =
  | { readonly kind: 'opened'; readonly endpoint: RemoteEndpoint; readonly token: RegionToken }
  | { readonly kind: 'connected' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'driven'; readonly driven: Driven }
  | { readonly kind: 'cpu'; readonly ns: number }
  | { readonly kind: 'ipc'; readonly payload: Uint8Array }

export const RECEIVE_DEPTH = 64
export const SEND_DEPTH = 64
/** Operations that share one completion where throughput is measured. */
export const WINDOW: number = SEND_DEPTH / 2

/** Immediates that tell a driven end what counts. */
export const DriveMark = { End: 1, Begin: 2 } as const

/** Marks follow each other in the last byte of what is written; 0 is none. */
export function nextMark(mark: number): number {
  return mark === 255 ? 1 : mark + 1
}

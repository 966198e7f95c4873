import type { HandedRequest } from '../../cm/index.ts'
import { AetherError, type AetherErrorCode, messageOfThrown } from '../../native/index.ts'
import type { AdmissionOptions, LinkPeer } from '../link-admission.ts'
import type { VerbsLink } from '../verbs-link.ts'

/** The thread in which a module is loaded. */
export interface IoThread {
  /** The index of the thread, from 0. It keeps the index when it is started again. */
  readonly index: number
  /** The kernel's thread id: `/proc/self/task/<threadId>`. */
  readonly threadId: number
  /** The processors it may run on. */
  readonly cpus: readonly number[]
  /** The value passed as `threads.data`. */
  readonly data: unknown
}

/** Options of a connection that can be passed to another thread. */
export type ThreadLinkOptions = Omit<AdmissionOptions, 'onLink' | 'onClientError' | 'domain'>

/**
 * What a thread does with connections: the export `open` of a module of this package. Endpoints and RPC have one each.
 * @internal
 */
export interface ThreadRole {
  open(module: unknown, thread: IoThread, options: ThreadLinkOptions): LinkTaker | Promise<LinkTaker>
}

/** @internal */
export interface LinkTaker {
  onLink(link: VerbsLink, peer: LinkPeer): void
  /** End all connections gracefully, within that time. */
  close(timeoutMs: number): Promise<void>
}

/** The start data of a thread. */
export interface ThreadStart {
  readonly roleUrl: string
  readonly moduleUrl: string
  readonly index: number
  readonly cpus: readonly number[]
  readonly data: unknown
  readonly options: ThreadLinkOptions
  /** {@link ThreadWord}s, written by the thread and readable while it is busy or gone. */
  readonly words: SharedArrayBuffer
}

export const ThreadWord = { Connections: 0, Accepted: 1, Refused: 2, Count: 3 } as const

export type ToThread =
  | { readonly kind: 'request'; readonly request: HandedRequest }
  | { readonly kind: 'close'; readonly timeoutMs: number }

export type FromThread =
  | { readonly kind: 'up'; readonly threadId: number; readonly cpus: readonly number[] }
  | { readonly kind: 'client-error'; readonly error: PackedError }

/** Structured clone forgets the class and the fields of an error. */
export interface PackedError {
  readonly code: AetherErrorCode
  readonly message: string
}

export function packError(error: unknown): PackedError {
  if (error instanceof AetherError) return { code: error.code, message: error.message }
  return { code: 'ERR_AETHER_IO_THREAD', message: messageOfThrown(error) }
}

export function unpackError({ code, message }: PackedError): AetherError {
  return new AetherError(code, message)
}

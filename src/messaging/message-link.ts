import type { CompletionMode } from './link-options.ts'
import type { MemoryLending } from './memory-lending.ts'

/** Memory of this end that the peer may be told of: address and key are what it names to reach it. */
export interface RegisteredBuffer {
  readonly address: number
  /** The peer's key for it. */
  readonly key: number
  readonly bytes: Uint8Array
  /** Idempotent. The peer reaches nothing by that key any more. */
  close(): void
  [Symbol.dispose](): void
}

/** A part of registered memory of this end. */
export interface LocalRange {
  readonly buffer: RegisteredBuffer
  /** Default 0. */
  readonly offset?: number
  /** In bytes; default: to the end of the buffer. */
  readonly length?: number
}

/** The first byte of a part of the peer's memory, as its {@link RegisteredBuffer} says. */
export interface RemoteAddress {
  readonly address: number
  readonly key: number
}

/** Kinds that a layer above a link may give its messages: 0 to this. */
export const MESSAGE_KIND_MAX = 14

/**
 * Called for each message, in order. `bytes` is the ring; the message is `length` bytes from `offset` on, a multiple of
 * 8, and is valid until the call returns. The peer can write there meanwhile if it means harm: read each word once, and
 * check what was read. `immediate` and `kind` are what `commit` was given.
 */
export type MessageHandler = (
  bytes: Uint8Array,
  offset: number,
  length: number,
  immediate: number,
  kind: number,
) => void

/**
 * Messages in both directions between two ends, in order, each once, through a ring in the receiver's memory. What is
 * written on it (RPC, collectives, connections) works over each kind of link.
 */
export interface MessageLink {
  /**
   * The longest message that goes through the ring; longer ones are the sender's business: `register`, tell the peer,
   * have it `read`.
   */
  readonly messageBytesMax: number
  /**
   * The memory in which `reserve` gives places: a mirror of the peer's ring. Its first byte lies at a multiple of 8 of
   * its buffer.
   */
  readonly outgoing: Uint8Array
  /** False once `onEnd` was called. */
  readonly open: boolean
  /**
   * False from `close` on, and once the link has ended: `reserve` and `writable` refuse then. Until the link has ended
   * messages still come.
   */
  readonly canSend: boolean
  /**
   * Both ends are on one machine and write into each other's memory by themselves: no adapter takes part. Default: not
   * known.
   */
  readonly throughSharedMemory?: boolean
  /** What people know the peer by: address and port, where it has them. Default: not known. */
  readonly peerText?: string
  /**
   * How this end waits. With `polling` it has a processor to itself: who blocks on the link never sleeps either.
   * Default: as `adaptive`.
   */
  readonly completion?: CompletionMode
  /**
   * A place for a message of up to `length` bytes: its offset in `outgoing`, a multiple of 8; or -1 where the ring has
   * no room just now. One place at a time: a second call takes the first one back. Throws ArgumentError beyond
   * `messageBytesMax`; once the link has ended the LinkError that says why, and ClosedError after an orderly end or
   * `close`.
   */
  reserve(length: number): number
  /**
   * The message stands: `length` (at most what was reserved) bytes at the place reserved. It leaves with the next
   * flush, or with the end of this turn of the event loop, or of the `poll` that called us: messages of one turn share
   * WRITEs. `immediate` (32 bits) and `kind` (0 to 14) travel with it.
   */
  commit(length: number, immediate?: number, kind?: number): void
  /** Send what was committed. Where the peer has no receive left it goes as soon as there is one. */
  flush(): void
  /**
   * Resolves when `reserve(length)` will find room; rejects with the link's end (ClosedError where it was in order), or
   * the signal's reason.
   */
  writable(length: number, signal?: AbortSignal): Promise<void>
  /** Until it is set, messages wait in the ring. What it throws ends the link. */
  onMessage: MessageHandler | undefined
  /**
   * Called once when the link ends; undefined: closed by either end in order. Then every message that the
   * other end committed before it closed was delivered; of its own, the end that closed last cannot say which the other
   * had taken when it closed.
   */
  onEnd: ((error: Error | undefined) => void) | undefined
  /**
   * For a thread that blocks, of which no timer runs: has what is due at that time of `performance.now()` done, such as
   * asking a silent peer whether it is there. Default: nothing is.
   */
  attend?(nowMs: number): void
  /** No more messages after the one being delivered; they stay in the ring and hold the sender back. */
  pause(): void
  /** Messages again, from the next turn or poll on. */
  resume(): void
  /** Progress without the event loop: takes what has come; how many messages. */
  poll(): number
  /** Memory that the peer may read and write, zeroed; every provider reaches it without a copy between. */
  allocate(lengthBytes: number): RegisteredBuffer
  /**
   * The same for memory that exists. Pinned by real devices; `shm` reaches it by copies between processes, which the
   * machine may forbid: prefer `allocate`.
   */
  register(memory: Uint8Array): RegisteredBuffer
  /** Memory of which the peer reaches parts only, and for a time only. Undefined where the link has no such thing. */
  readonly lending?: MemoryLending | undefined
  /**
   * Counts `bytes`, which the peer fetches by itself, as bytes of the message that was committed last, where a limit is
   * set to what leaves.
   */
  charge?(bytes: number): void
  /**
   * READ from the peer's memory. Rejects with a LinkError when the link ends first: then how much was carried out is
   * not known.
   */
  read(local: LocalRange, remote: RemoteAddress): Promise<void>
  /** WRITE to the peer's memory. Messages committed after this call arrive after its bytes. */
  write(local: LocalRange, remote: RemoteAddress): Promise<void>
  /**
   * Sends what was committed, then ends in order. Idempotent; never rejects: what went wrong is told by `onEnd`.
   * `before` is what is waited for first, while messages can still be sent: it does not reject, and resolves with the
   * end of the link at the latest.
   */
  close(before?: Promise<void>): Promise<void>
  /** Ends at once; the peer learns of a loss. `onEnd` gets `reason`. */
  destroy(reason?: Error): void
}

import type { CompletionMode } from './link-options.ts'
import type { MemoryLending } from './memory-lending.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'

/** The largest kind that a layer above a link may give its messages; the smallest is 0. */
export const MESSAGE_KIND_MAX = 14

/**
 * Called for each message, in order. `bytes` is the ring. The message is `length` bytes from `offset`, a multiple of 8,
 * and is valid until the call returns. A malicious peer can write there in the meantime: read each word once, and check
 * what was read. `immediate` and `kind` are what `commit` was given.
 */
export type MessageHandler = (
  bytes: Uint8Array,
  offset: number,
  length: number,
  immediate: number,
  kind: number,
) => void

/** @internal What ends the sleep of a thread that blocks on links; those over one device share it. */
export interface Alarm {
  /** Readable once it rings. */
  readonly descriptor: number
  /** It is readable: it may ring again. The event loop will look, too. */
  rang(): void
}

/**
 * Messages in both directions between two ends, in order, each once, through a ring in the receiver's memory. RPC,
 * collectives and connections work over any kind of link.
 */
export interface MessageLink {
  /**
   * The longest message that goes through the ring. For a longer one the sender has to `register` it, tell the peer,
   * and have it `read`.
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
   * False from `close` on, and once the link has ended: `reserve` and `writable` then refuse. Messages still come until
   * the link has ended.
   */
  readonly canSend: boolean
  /** Both ends are on one machine and write into each other's memory directly, without an adapter. Default: unknown. */
  readonly throughSharedMemory?: boolean
  /** The name of the peer for people: address and port, if it has them. Default: unknown. */
  readonly peerText?: string
  /**
   * How this end waits. With `polling` it has a processor to itself: a caller that blocks on the link never sleeps
   * either. Default: as `adaptive`.
   */
  readonly completion?: CompletionMode
  /**
   * Reserve a place for a message of up to `length` bytes. Returns its offset in `outgoing`, a multiple of 8, or -1 if
   * the ring has no room now. There is one place at a time: a second call takes the first one back.
   *
   * Throws ArgumentError beyond `messageBytesMax`. Once the link has ended, throws the LinkError that says why; after a
   * graceful end or `close`, ClosedError.
   */
  reserve(length: number): number
  /**
   * Commit a message of `length` bytes, at most what was reserved, at the reserved place. It leaves with the next
   * flush, the end of this turn of the event loop, or the end of the `poll` that called us. Messages of one turn share
   * WRITEs. `immediate` (32 bits) and `kind` (0 to 14) travel with it.
   */
  commit(length: number, immediate?: number, kind?: number): void
  /** Send what was committed. If the peer has no receive left, it goes as soon as there is one. */
  flush(): void
  /**
   * Resolves when `reserve(length)` will find room. Rejects with the link's end (ClosedError if it was graceful), or
   * the signal's reason.
   */
  writable(length: number, signal?: AbortSignal): Promise<void>
  /** Until it is set, messages wait in the ring. If it throws, the link ends. */
  onMessage: MessageHandler | undefined
  /**
   * Called once when the link ends, with undefined if either end closed it. In that case every message that the other
   * end committed before it closed was delivered. The end that closed last cannot say which of its own messages the
   * other had taken.
   */
  onEnd: ((error: Error | undefined) => void) | undefined
  /**
   * Do what is due at that time of `performance.now()`, such as asking a silent peer whether it is there. For threads
   * that block, whose timers do not run. Default: nothing is due.
   */
  attend?(nowMs: number): void
  /**
   * @internal For a thread that blocks, before it polls for the last time and sleeps: what comes next rings the alarm.
   * Undefined, or missing, if nothing does.
   */
  arm?(): Alarm | undefined
  /** Deliver no more messages after the present one; they stay in the ring and hold the sender back. */
  pause(): void
  /** Deliver messages again, from the next turn or poll on. */
  resume(): void
  /** Process what has come, without the event loop. Returns how many messages. */
  poll(): number
  /**
   * Allocate zeroed memory that the peer may read and write. Every provider reaches it without an intermediate copy.
   */
  allocate(lengthBytes: number): RegisteredBuffer
  /**
   * Register existing memory for the same use. Real devices pin it. `shm` reaches it by copies between processes, which
   * the machine may forbid: prefer `allocate`.
   */
  register(memory: Uint8Array): RegisteredBuffer
  /** Memory of which the peer reaches only parts, and only for a time. Undefined if the link does not offer it. */
  readonly lending?: MemoryLending | undefined
  /**
   * Count `bytes`, which the peer fetches itself, as bytes of the message that was committed last, if the link has a
   * send limit.
   */
  charge?(bytes: number): void
  /**
   * READ from the peer's memory. Rejects with a LinkError if the link ends first: then it is unknown how much was
   * carried out.
   */
  read(local: LocalRange, remote: RemoteAddress): Promise<void>
  /** WRITE to the peer's memory. Messages committed after this call arrive after its bytes. */
  write(local: LocalRange, remote: RemoteAddress): Promise<void>
  /**
   * Send what was committed, then end gracefully. Idempotent; never rejects: `onEnd` reports errors. If `before` is
   * given, it is awaited first, while messages can still be sent. It must not reject, and must resolve with the end of
   * the link at the latest.
   */
  close(before?: Promise<void>): Promise<void>
  /** End at once; the peer sees a lost connection. `onEnd` receives `reason`. */
  destroy(reason?: Error): void
}

/** What a link does through its rings; the rest are operations on the peer's memory. */
export type RingMessages = Omit<MessageLink, 'allocate' | 'register' | 'read' | 'write'>

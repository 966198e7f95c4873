import { LinkError, type MemoryLending, type MessageLink, type RegisteredBuffer } from '../messaging/index.ts'
import { ArgumentError, ClosedError, checkWhole } from '../native/index.ts'
import { RpcError } from './errors.ts'
import { lendingOf, RdmaBuffer, type RdmaRange, wholeRange } from './rdma-buffer.ts'

/**
 * Where a handler's own bytes lie: a registered buffer, a part of one, or plain memory, which is registered for the
 * duration of the operation.
 */
export type OwnBytes = RdmaBuffer | RdmaRange | Uint8Array

/** The part of the caller's memory that a handler may read, until its call ends. */
export interface RemoteSource {
  /** In bytes. */
  readonly length: number
  /**
   * READ `length` bytes (default: the length of `into`) from `offset` (default 0) of the part into `into`. If the call
   * ends in the meantime, it rejects with the reason of `context.signal`, once what is under way is complete. Part of
   * the bytes may then have come.
   * @throws ArgumentError beyond either end; ClosedError once the handler is done; RpcError
   * `ERR_AETHER_RPC_CONNECTION_LOST`.
   */
  read(into: OwnBytes, offset?: number, length?: number): Promise<void>
}

/** The part of the caller's memory that a handler may write, until its call ends. */
export interface RemoteTarget {
  /** In bytes. */
  readonly length: number
  /**
   * WRITE `length` bytes (default: all of `from`) to `offset` (default 0) of the part. Resolves when they have arrived.
   * Errors as for {@link RemoteSource.read}.
   */
  write(from: OwnBytes, offset?: number, length?: number): Promise<void>
}

/** A part of the caller's memory, as the call names it on the wire. */
export interface RemotePart {
  readonly address: number
  readonly key: number
  readonly length: number
}

/** The parts of the caller's memory that a call names. */
export interface RemoteParts {
  readonly source?: RemotePart | undefined
  readonly target?: RemotePart | undefined
}

/** What a call provides to its memory. */
export interface MemoryOwner {
  /** `service/method`. */
  readonly method: string
  /** Why the handler may do no more; undefined while it may. */
  readonly abortReason: { readonly reason: unknown } | undefined
}

/** Long transfers go in pieces, so that one that is not wanted any more ends soon. */
const PIECE_BYTES = 1 << 20
const PIECES_UNDER_WAY = 4

type Direction = 'read' | 'write'

/**
 * The caller's memory in the hands of a handler. After `close` no operation begins. `idle` resolves when all are
 * complete, and only then does the server send its last frame.
 */
export class CallMemory {
  readonly source: RemoteSource | undefined
  readonly target: RemoteTarget | undefined
  readonly #link: MessageLink
  readonly #lending: MemoryLending
  readonly #owner: MemoryOwner
  #isClosed = false
  #underWay = 0
  /** It was read since the last fence. */
  #wasRead = false
  #waiting: (() => void)[] = []

  constructor(link: MessageLink, owner: MemoryOwner, { source, target }: RemoteParts) {
    this.#link = link
    this.#lending = lendingOf(link)
    this.#owner = owner
    if (source !== undefined)
      this.source = {
        length: source.length,
        read: (into, offset, length) => this.#transfer('read', source, into, offset, length),
      }
    if (target !== undefined)
      this.target = {
        length: target.length,
        write: (from, offset, length) => this.#transfer('write', target, from, offset, length),
      }
  }

  allocate(lengthBytes: number): RdmaBuffer {
    return new RdmaBuffer(this.#lending.allocate(lengthBytes))
  }

  register(bytes: Uint8Array): RdmaBuffer {
    return new RdmaBuffer(this.#lending.register(bytes))
  }

  /** True if an operation is under way in the caller's memory, or may be repeated there. */
  get busy(): boolean {
    return this.#underWay > 0 || this.#wasRead
  }

  /** Let no further operation begin. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when no operation is under way or can be repeated. Lets no further operation begin. */
  async idle(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (!this.#wasRead) return
    await this.#fenced()
    this.#wasRead = false
  }

  /** Where the link ends first, nothing of it reaches anything. */
  async #fenced(): Promise<void> {
    if (this.#link.open) await new Promise((resolve) => this.#lending.fenceReads(resolve))
  }

  /** The result of a handler, once it is also done with the caller's memory. */
  async settled(run: () => unknown): Promise<unknown> {
    try {
      return await run()
    } finally {
      this.close()
      await this.idle()
    }
  }

  async #transfer(
    direction: Direction,
    remote: RemotePart,
    own: OwnBytes,
    offset = 0,
    length: number | undefined = undefined,
  ): Promise<void> {
    this.#refuseEnded()
    const range = this.#own(own, direction)
    try {
      const wanted = length ?? range.length
      checkBounds(remote.length, range.length, offset, wanted)
      await this.#pieces(direction, { ...remote, address: remote.address + offset }, range, wanted)
    } finally {
      range.letGo()
    }
  }

  #own(
    own: OwnBytes,
    direction: Direction,
  ): { memory: RegisteredBuffer; offset: number; length: number; letGo: () => void } {
    const argument = direction === 'read' ? 'into' : 'from'
    if (own instanceof Uint8Array) {
      if (own.length === 0) throw new ArgumentError(argument, `${argument} must have at least one byte`)
      const memory = this.#lending.register(own)
      return { memory, offset: 0, length: own.length, letGo: () => memory.close() }
    }
    const { buffer, offset, length } = wholeRange(own, argument, direction)
    return { memory: buffer.enter(this.#lending), offset, length, letGo: () => buffer.leave(false) }
  }

  /** Some at a time. It ends when all that were begun have ended, also where one fails. */
  async #pieces(
    direction: Direction,
    remote: RemotePart,
    own: { readonly memory: RegisteredBuffer; readonly offset: number },
    length: number,
  ): Promise<void> {
    let next = 0
    const lane = async (): Promise<void> => {
      try {
        while (next < length) {
          this.#refuseEnded()
          const at = next
          next = Math.min(length, at + PIECE_BYTES)
          await this.#piece(direction, remote, own, at, next - at)
        }
      } catch (error) {
        next = length
        throw error
      }
    }
    const lanes = Math.min(PIECES_UNDER_WAY, Math.ceil(length / PIECE_BYTES))
    const results = await Promise.allSettled(Array.from({ length: lanes }, lane))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #piece(
    direction: Direction,
    remote: RemotePart,
    own: { readonly memory: RegisteredBuffer; readonly offset: number },
    at: number,
    length: number,
  ): Promise<void> {
    const local = { buffer: own.memory, offset: own.offset + at, length }
    const there = { address: remote.address + at, key: remote.key }
    this.#underWay += 1
    this.#wasRead ||= direction === 'read'
    try {
      await this.#link[direction](local, there)
    } catch (error) {
      throw error instanceof LinkError || error instanceof ClosedError ? this.#lost(direction, error) : error
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) for (const each of this.#waiting.splice(0)) each()
    }
  }

  #lost(direction: Direction, cause: Error): RpcError {
    const what = `the connection ended during a ${direction} of the caller's memory; it may have been carried out in part: ${cause.message}`
    return new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', 'unknown', this.#owner.method, what, { cause })
  }

  #refuseEnded(): void {
    const { abortReason } = this.#owner
    if (abortReason !== undefined) throw abortReason.reason
    if (this.#isClosed) throw new ClosedError('the call')
  }
}

function checkBounds(remoteBytes: number, ownBytes: number, offset: number, length: number): void {
  checkWhole('offset', offset, 0, remoteBytes - 1)
  if (Number.isSafeInteger(length) && length > remoteBytes - offset)
    throw new ArgumentError(
      'length',
      `length must be at most ${remoteBytes - offset}, not ${length}: the call names ${remoteBytes} bytes`,
    )
  if (Number.isSafeInteger(length) && length > ownBytes)
    throw new ArgumentError('length', `length must be at most ${ownBytes}, the bytes at this end, not ${length}`)
  checkWhole('length', length, 1, Math.min(ownBytes, remoteBytes - offset))
}

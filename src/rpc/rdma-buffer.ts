import type { MemoryLending, RegisteredBuffer } from '../messaging/index.ts'
import { ArgumentError, ClosedError, UnsupportedError } from '../native/index.ts'

/** A part of a buffer. */
export interface RdmaRange {
  readonly buffer: RdmaBuffer
  /** In bytes; default 0. */
  readonly offset?: number
  /** In bytes; default: to the end of the buffer. */
  readonly length?: number
}

/**
 * Memory that is registered once and serves any number of calls: lent by a caller, or as a handler's own memory. A peer
 * reaches only the part that a call names, and only in that call. It belongs to the device, not to the connection, so
 * it also serves the next connection over the same device.
 */
export class RdmaBuffer implements AsyncDisposable {
  readonly #memory: RegisteredBuffer
  readonly #bytes: Uint8Array
  #uses = 0
  #isLost = false
  #released: Promise<void> | undefined
  #unused: (() => void) | undefined

  /** @internal Use `allocate` or `register` of a channel, or of a handler's context. */
  constructor(memory: RegisteredBuffer) {
    this.#memory = memory
    this.#bytes = memory.bytes
  }

  /**
   * The memory itself. During a call, a peer's writes appear here at any time. After the release of an `allocate`d
   * buffer it is private memory that no peer reaches.
   */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Calls and operations that use it now. */
  get uses(): number {
    return this.#uses
  }

  /**
   * A call ended although its server may still access the memory (`ERR_AETHER_RPC_BUFFER_LOST`): no further call
   * accepts it.
   */
  get lost(): boolean {
    return this.#isLost
  }

  /**
   * Let no further call use it. Resolves when those that use it have ended and the registration is closed. Idempotent.
   */
  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  async #release(): Promise<void> {
    if (this.#uses > 0)
      await new Promise<void>((resolve) => {
        this.#unused = resolve
      })
    try {
      this.#memory.close()
    } catch {
      // A peer of the device stays in the middle of an access, to whatever memory. The keys are gone; the second time
      // it is not waited for.
      this.#memory.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** @internal Count a use, until `leave`. */
  enter(lending: MemoryLending): RegisteredBuffer {
    if (this.#released !== undefined) throw new ClosedError('the buffer')
    if (this.#isLost) throw new ArgumentError('buffer', 'a server may still write into this buffer; use another one')
    if (!lending.accepts(this.#memory))
      throw new ArgumentError(
        'buffer',
        'this buffer belongs to another device than the connection; allocate or register one with this channel or context',
      )
    this.#uses += 1
    return this.#memory
  }

  /** @internal */
  leave(isLost: boolean): void {
    this.#uses -= 1
    if (isLost) this.#isLost = true
    if (this.#uses === 0) this.#unused?.()
  }
}

/** @internal A range with all its fields. @throws ArgumentError if it is empty or not a part of the buffer. */
export function wholeRange(part: RdmaBuffer | RdmaRange, name: string): Required<RdmaRange> {
  const range: RdmaRange = part instanceof RdmaBuffer ? { buffer: part } : part
  if (!(range?.buffer instanceof RdmaBuffer))
    throw new ArgumentError(name, 'pass a buffer from `allocate` or `register`, or a part of one')
  const { buffer, offset = 0, length = buffer.length - offset } = range
  const isExact = Number.isSafeInteger(offset) && Number.isSafeInteger(length)
  if (!isExact || offset < 0 || length < 1 || offset + length > buffer.length)
    throw new ArgumentError(
      name,
      `${length} bytes from offset ${offset} are not a part of a buffer of ${buffer.length} bytes; pass at least one byte within it`,
    )
  return { buffer, offset, length }
}

/** @internal @throws UnsupportedError. */
export function lendingOf(link: { readonly lending?: MemoryLending | undefined }): MemoryLending {
  if (link.lending !== undefined) return link.lending
  throw new UnsupportedError('links of this kind cannot lend memory; calls with buffers need a link over a device')
}

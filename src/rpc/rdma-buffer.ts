import type { LocalRange, MemoryLending, RegisteredBuffer } from '../messaging/index.ts'
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
 * Memory that is registered once and serves any number of calls: as what a caller lends, or as where a handler's own
 * bytes lie. No peer reaches it but in a call that names it, and there only the part that it names. It belongs to the
 * device, not to the connection, so it is good for the next connection over the same device, too.
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
   * The memory itself. While a call has it, what a peer writes appears here at any time. Once it was released and
   * `allocate` had made it, it is memory of nobody.
   */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Calls and operations that use it just now. */
  get uses(): number {
    return this.#uses
  }

  /**
   * A call ended without its server having let go of the memory (`ERR_AETHER_RPC_BUFFER_LOST`): no further call takes
   * it.
   */
  get lost(): boolean {
    return this.#isLost
  }

  /**
   * No further call takes it. Resolves when those that use it have ended, and the registration is given back.
   * Idempotent.
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

  /** @internal Somebody uses it, until `leave`. */
  enter(lending: MemoryLending): RegisteredBuffer {
    if (this.#released !== undefined) throw new ClosedError('the buffer')
    if (this.#isLost) throw new ArgumentError('buffer', 'a server may still write into it; take another one')
    if (!lending.accepts(this.#memory))
      throw new ArgumentError(
        'buffer',
        'it belongs to another device than the connection; allocate or register one with this channel or context',
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

/** @internal A range with all its fields. @throws ArgumentError where it is no part of the buffer, or empty. */
export function wholeRange(part: RdmaBuffer | RdmaRange, name: string): Required<RdmaRange> {
  const range: RdmaRange = part instanceof RdmaBuffer ? { buffer: part } : part
  if (!(range?.buffer instanceof RdmaBuffer))
    throw new ArgumentError(name, 'needs a buffer of `allocate` or `register`, or a part of one')
  const { buffer, offset = 0, length = buffer.length - offset } = range
  const isExact = Number.isSafeInteger(offset) && Number.isSafeInteger(length)
  if (!isExact || offset < 0 || length < 1 || offset + length > buffer.length)
    throw new ArgumentError(
      name,
      `${length} bytes from ${offset} on are no part of a buffer of ${buffer.length} bytes, or none at all`,
    )
  return { buffer, offset, length }
}

/** @internal */
export function localRange(memory: RegisteredBuffer, offset: number, length: number): LocalRange {
  return { buffer: memory, offset, length }
}

/** @internal @throws UnsupportedError. */
export function lendingOf(link: { readonly lending?: MemoryLending | undefined }): MemoryLending {
  if (link.lending !== undefined) return link.lending
  throw new UnsupportedError('links of this kind lend no memory; calls with buffers need a link over a device')
}

import type { MemoryLending, RegisteredBuffer } from '../messaging/index.ts'
import {
  ArgumentError,
  ClosedError,
  checkOptions,
  checkWhole,
  mustBe,
  type OptionNames,
  UnsupportedError,
} from '../native/index.ts'

/** A part of a buffer. */
export interface RdmaRange {
  readonly buffer: RdmaBuffer
  /** In bytes; default 0. */
  readonly offset?: number
  /** In bytes; default: to the end of the buffer. */
  readonly length?: number
}

const rangeNames: OptionNames<RdmaRange> = { buffer: true, offset: true, length: true }
const ORIGIN = 'a buffer, as allocate() or register() returns'

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

/**
 * @internal A range with all its fields. `argument` is what it is in `call`.
 * @throws ArgumentError if it is empty or not a part of the buffer.
 */
export function wholeRange(part: RdmaBuffer | RdmaRange, argument: string, call: string): Required<RdmaRange> {
  if (part instanceof RdmaBuffer) return { buffer: part, offset: 0, length: part.length }
  if (typeof part !== 'object' || part === null || ArrayBuffer.isView(part))
    throw mustBe(argument, `${ORIGIN}, or a part of one: { buffer, offset, length }`, part)
  checkOptions(call, part, rangeNames, argument)
  const { buffer, offset = 0 } = part
  if (!(buffer instanceof RdmaBuffer)) throw mustBe(`${argument}.buffer`, ORIGIN, buffer)
  checkWhole(`${argument}.offset`, offset, 0, buffer.length - 1)
  const { length = buffer.length - offset } = part
  checkWhole(`${argument}.length`, length, 1, buffer.length - offset)
  return { buffer, offset, length }
}

/** @internal @throws UnsupportedError. */
export function lendingOf(link: { readonly lending?: MemoryLending | undefined }): MemoryLending {
  if (link.lending !== undefined) return link.lending
  throw new UnsupportedError('links of this kind cannot lend memory; calls with buffers need a link over a device')
}

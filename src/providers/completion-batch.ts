import { checkInstance, checkWhole, mustBe } from '../native/index.ts'

/**
 * Room for `capacity` completions as one column per field, filled by `queue.poll(batch)`.
 * Columns lie one after the other in a single buffer, widest first, so that a native provider fills them in one call.
 * On a failed completion only `id`, `status`, `queuePairNumber` and `vendorError` mean something (ibv_poll_cq(3)).
 */
export class CompletionBatch {
  readonly capacity: number
  readonly buffer: ArrayBuffer
  /** The id that the request was posted with. */
  readonly id: Float64Array
  /** Bytes transferred; for a receive, bytes received. */
  readonly byteLength: Float64Array
  /** In host order. Valid if `flags` has CompletionFlag.WithImmediate. */
  readonly immediate: Uint32Array
  readonly queuePairNumber: Uint32Array
  readonly sourceQueuePair: Uint32Array
  readonly vendorError: Uint32Array
  /** A CompletionStatus. */
  readonly status: Uint8Array
  /** A CompletionOpcode. */
  readonly opcode: Uint8Array
  /** CompletionFlag bits. */
  readonly flags: Uint8Array

  constructor(capacity: number) {
    checkWhole('capacity', capacity, 1, 2 ** 22)
    this.capacity = capacity
    this.buffer = new ArrayBuffer(capacity * (2 * 8 + 4 * 4 + 3))
    let offset = 0
    const next = (bytes: number): number => {
      const at = offset
      offset += bytes * capacity
      return at
    }
    this.id = new Float64Array(this.buffer, next(8), capacity)
    this.byteLength = new Float64Array(this.buffer, next(8), capacity)
    this.immediate = new Uint32Array(this.buffer, next(4), capacity)
    this.queuePairNumber = new Uint32Array(this.buffer, next(4), capacity)
    this.sourceQueuePair = new Uint32Array(this.buffer, next(4), capacity)
    this.vendorError = new Uint32Array(this.buffer, next(4), capacity)
    this.status = new Uint8Array(this.buffer, next(1), capacity)
    this.opcode = new Uint8Array(this.buffer, next(1), capacity)
    this.flags = new Uint8Array(this.buffer, next(1), capacity)
  }

  /** Copy row `from` of `source` to row `to` of this. */
  copyRow(to: number, source: CompletionBatch, from: number): void {
    if (!(source instanceof CompletionBatch))
      checkInstance('source', source, CompletionBatch, 'such as new CompletionBatch(64)')
    if (!this.#hasRow(to)) throw mustBe('to', `a row from 0 to ${this.capacity - 1}`, to)
    if (!source.#hasRow(from)) throw mustBe('from', `a row from 0 to ${source.capacity - 1}`, from)
    this.id[to] = source.id[from]!
    this.byteLength[to] = source.byteLength[from]!
    this.immediate[to] = source.immediate[from]!
    this.queuePairNumber[to] = source.queuePairNumber[from]!
    this.sourceQueuePair[to] = source.sourceQueuePair[from]!
    this.vendorError[to] = source.vendorError[from]!
    this.status[to] = source.status[from]!
    this.opcode[to] = source.opcode[from]!
    this.flags[to] = source.flags[from]!
  }

  #hasRow(row: number): boolean {
    return Number.isInteger(row) && row >= 0 && row < this.capacity
  }
}

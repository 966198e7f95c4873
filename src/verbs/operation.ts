import { ClosedError, TimeoutError } from '../native/index.ts'
import { type CompletionBatch, CompletionError, CompletionFlag, CompletionStatus } from '../providers/index.ts'
import { untilAborted } from '../runtime/index.ts'

/** The completion queue of operations. */
interface PolledQueue {
  readonly closed: boolean
  reap(): void
}

/** What a convenience resolves to. */
export interface OperationResult {
  readonly byteLength: number
  /** In host byte order; undefined if the message carried none. */
  readonly immediate: number | undefined
  /** The key that a received message revoked, if any. */
  readonly invalidatedKey?: number
}

/** A convenience call in flight. It holds its buffers until the completion, even if the caller has stopped waiting. */
export class Operation {
  readonly id: number
  readonly name: string
  readonly held: unknown
  done = false
  result: OperationResult | undefined = undefined
  failure: Error | undefined = undefined
  onSettled: (() => void) | undefined = undefined

  readonly #onDone: (() => void) | undefined

  constructor(id: number, name: string, held: unknown, onDone: (() => void) | undefined) {
    this.id = id
    this.name = name
    this.held = held
    this.#onDone = onDone
  }

  /** Release the buffers; nothing will complete. */
  release(): void {
    this.#onDone?.()
  }

  settle(result: OperationResult | undefined, failure: Error | undefined): void {
    this.done = true
    this.result = result
    this.failure = failure
    this.#onDone?.()
    this.onSettled?.()
  }
}

/** How many turns of the event loop the driver takes before it sleeps between polls. */
const EAGER_TURNS = 32
const DRIVER_SLEEP_MS = 1

/**
 * The convenience calls whose completions arrive at one queue. Their ids are negative, which tells them from the user's
 * rows. While one is outstanding a driver polls from the event loop; user code that polls the same queue settles them
 * too.
 */
export class Operations {
  readonly #queue: PolledQueue
  readonly #byId = new Map<number, Operation>()
  #nextId = -1
  #driving = false
  outstanding = 0

  constructor(queue: PolledQueue) {
    this.#queue = queue
  }

  /** `onDone` runs when the completion arrives, even if the caller no longer waits. */
  begin(name: string, held: unknown, onDone: (() => void) | undefined): Operation {
    const operation = new Operation(this.#nextId, name, held, onDone)
    this.#nextId -= 1
    this.#byId.set(operation.id, operation)
    this.outstanding += 1
    return operation
  }

  /** The post was refused: nothing will complete. */
  cancel(operation: Operation): void {
    this.#forget(operation)
    operation.release()
  }

  /** Settle the rows of convenience calls and move the user's rows to the front. Returns how many the user has. */
  filter(batch: CompletionBatch, count: number): number {
    let kept = 0
    for (let row = 0; row < count; row += 1) {
      if (batch.id[row]! < 0) this.#settleRow(batch, row)
      else {
        if (kept !== row) batch.copyRow(kept, batch, row)
        kept += 1
      }
    }
    return kept
  }

  /**
   * Resolve when the completion arrives. An abort rejects at once; the operation itself goes on and keeps its buffers.
   */
  wait(operation: Operation, signal: AbortSignal | undefined): Promise<OperationResult> {
    this.#queue.reap()
    const settled = new Promise<OperationResult>((resolve, reject) => {
      operation.onSettled = () => {
        if (operation.failure === undefined) resolve(operation.result!)
        else reject(operation.failure)
      }
      if (operation.done) return operation.onSettled()
      this.#drive()
    })
    return untilAborted(settled, signal)
  }

  /** Poll until the completion arrives. TimeoutError leaves the operation outstanding, with its outcome unknown. */
  waitSync(operation: Operation, timeoutMs: number): OperationResult {
    const deadline = performance.now() + timeoutMs
    for (this.#queue.reap(); !operation.done; this.#queue.reap()) {
      if (performance.now() < deadline) continue
      throw new TimeoutError(
        `${operation.name} did not complete within ${timeoutMs} ms; it may or may not have been carried out`,
      )
    }
    if (operation.failure !== undefined) throw operation.failure
    return operation.result!
  }

  /** The queue is gone: nothing more will arrive. */
  abandon(): void {
    for (const operation of [...this.#byId.values()]) {
      this.#forget(operation)
      operation.settle(undefined, new ClosedError('the completion queue of an operation in flight'))
    }
  }

  #settleRow(batch: CompletionBatch, row: number): void {
    const operation = this.#byId.get(batch.id[row]!)
    if (operation === undefined) return
    this.#forget(operation)
    const status = batch.status[row]!
    if (status !== CompletionStatus.Success) {
      const number = batch.queuePairNumber[row]!
      operation.settle(undefined, new CompletionError(operation.name, status, batch.vendorError[row]!, number))
      return
    }
    operation.settle(resultAt(batch, row), undefined)
  }

  #forget(operation: Operation): void {
    if (this.#byId.delete(operation.id)) this.outstanding -= 1
  }

  #drive(): void {
    if (this.#driving) return
    this.#driving = true
    let turns = 0
    const turn = (): void => {
      if (this.outstanding > 0 && !this.#queue.closed) this.#queue.reap()
      if (this.outstanding === 0 || this.#queue.closed) {
        this.#driving = false
        return
      }
      turns += 1
      if (turns < EAGER_TURNS) setImmediate(turn)
      else setTimeout(turn, DRIVER_SLEEP_MS)
    }
    setImmediate(turn)
  }
}

function resultAt(batch: CompletionBatch, row: number): OperationResult {
  const flags = batch.flags[row]!
  const value = batch.immediate[row]!
  const immediate = (flags & CompletionFlag.WithImmediate) === 0 ? undefined : value
  const result = { byteLength: batch.byteLength[row]!, immediate }
  return (flags & CompletionFlag.WithInvalidate) === 0 ? result : { ...result, invalidatedKey: value }
}

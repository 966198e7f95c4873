import { AsyncEventType } from '../async-event.ts'
import type { CompletionBatch } from '../completion-batch.ts'
import type { ProviderCompletionQueue } from '../completion-contract.ts'
import { type CompletionOwner, FREES_RECEIVE } from '../soft/completion-owner.ts'
import { checkResize, refuseWhileFed } from '../soft/completion-queue-rules.ts'
import type { SimCompletionChannel } from './completion-channel.ts'
import type { SimContext } from './context.ts'

/** What feeds a completion queue. */
export interface CompletionSource {
  readonly label: string
  /** The queue is overrun. */
  overrun(): void
}

/** One completion. */
export interface CompletionRow {
  readonly owner: CompletionOwner
  readonly frees: number
  readonly id: number
  readonly status: number
  readonly opcode: number
  readonly byteLength: number
  readonly flags: number
  readonly immediate: number
  readonly sourceNumber: number
  readonly solicited: boolean
}

interface Waiting {
  readonly row: CompletionRow
  readonly generation: number
  readonly number: number
}

/** A device with its completion queues. */
interface QueueDevice extends SimContext {
  readonly queues: Set<SimCompletionQueue>
  /** The program has found nothing to do. */
  idle(): void
}

/** Completions in the order in which they came. */
export class SimCompletionQueue implements ProviderCompletionQueue {
  depth: number
  overrun = false
  readonly channel: SimCompletionChannel | undefined
  readonly sources: Set<CompletionSource> = new Set<CompletionSource>()
  readonly #device: QueueDevice
  #rows: Waiting[] = []
  #armed: 'no' | 'any' | 'solicited' = 'no'

  constructor(device: QueueDevice, depth: number, channel: SimCompletionChannel | undefined) {
    this.#device = device
    this.depth = depth
    this.channel = channel
    channel?.queues.add(this)
  }

  poll(batch: CompletionBatch): number {
    if (this.#rows.length === 0) this.#device.idle()
    let row = 0
    let taken = 0
    while (row < batch.capacity && taken < this.#rows.length) {
      if (this.#take(this.#rows[taken]!, batch, row)) row += 1
      taken += 1
    }
    this.#rows.splice(0, taken)
    return row
  }

  /** If the queue is full, it is overrun: the completion is lost, and its queue pairs fail. */
  push(row: CompletionRow): void {
    if (this.#rows.length >= this.depth) this.#clean()
    if (this.#rows.length >= this.depth) {
      this.#overflow()
      return
    }
    this.#rows.push({ row, generation: row.owner.generation, number: row.owner.number })
    const wanted = this.#armed === 'any' || (this.#armed === 'solicited' && (row.solicited || row.status !== 0))
    if (!wanted) return
    this.#armed = 'no'
    this.channel?.fire(this)
  }

  arm(solicitedOnly: boolean): void {
    if (this.#armed !== 'any') this.#armed = solicitedOnly ? 'solicited' : 'any'
  }

  resize(depth: number): void {
    this.#clean()
    checkResize(depth, this.#rows.length)
    this.depth = depth
  }

  destroy(): void {
    refuseWhileFed(this.sources)
    this.channel?.forget(this)
    this.#device.events.forget(this)
    this.#device.queues.delete(this)
  }

  /** Drop what reset or destroyed queue pairs left behind. */
  #clean(): void {
    this.#rows = this.#rows.filter(({ row, generation }) => row.owner.generation === generation)
  }

  /** Returns false if its queue pair was reset or destroyed in the meantime. */
  #take({ row, generation, number }: Waiting, batch: CompletionBatch, at: number): boolean {
    const { owner, frees } = row
    if (owner.generation !== generation) return false
    batch.id[at] = row.id
    batch.status[at] = row.status
    batch.opcode[at] = row.opcode
    batch.flags[at] = row.flags
    batch.byteLength[at] = row.byteLength
    batch.immediate[at] = row.immediate
    batch.queuePairNumber[at] = number
    batch.sourceQueuePair[at] = row.sourceNumber
    batch.vendorError[at] = 0
    if (frees === FREES_RECEIVE) owner.retireReceive()
    else if (frees > 0) owner.retireSends(frees)
    return true
  }

  #overflow(): void {
    if (this.overrun) return
    this.overrun = true
    this.#device.events.raise(AsyncEventType.CompletionQueueError, { completionQueue: this })
    for (const source of [...this.sources]) source.overrun()
  }
}

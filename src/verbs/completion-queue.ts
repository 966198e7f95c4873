import {
  ArgumentError,
  checkBoolean,
  checkInstance,
  checkOptions,
  checkWhole,
  type OptionNames,
} from '../native/index.ts'
import { TraceLevel } from '../profiling/index.ts'
import { CompletionBatch, type ProviderCompletionChannel, type ProviderCompletionQueue } from '../providers/index.ts'
import { CompletionStash } from './completion-stash.ts'
import { type Children, Closable, checkNoun } from './lifetime.ts'
import type { OpenedDevice } from './opened-device.ts'
import { Operations } from './operation.ts'
import { rdmaTrace, traceCompletions } from './verbs-trace.ts'

/** A device, as its completion queues know it. */
export interface QueueDevice extends OpenedDevice {
  /** @internal */
  readonly completionQueues: Children<CompletionQueue>
  createCompletionQueue(options: CompletionQueueOptions): CompletionQueue
}

/** Where events arrive: a completion channel. */
export interface EventChannel extends Closable {
  readonly descriptor: number
  /** @internal */
  readonly provider: ProviderCompletionChannel
  drain(): CompletionQueue[]
  wait(options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }): Promise<void>
}

export interface CompletionQueueOptions {
  /** How many completions the queue holds. */
  readonly depth: number
  /** Where `arm()` delivers events. */
  readonly channel?: EventChannel
  /**
   * Which of the device's `completionVectors` interrupts for this queue; default 0. Use it to spread work over
   * processors. Has no effect on shm.
   */
  readonly vector?: number
}

const names: OptionNames<CompletionQueueOptions> = { depth: true, channel: true, vector: true }
const armNames: OptionNames<ArmOptions> = { solicitedOnly: true }
const CHANNEL_ORIGIN = 'device.createCompletionChannel() makes'
const DEPTH_MAX = 2 ** 30

interface ArmOptions {
  readonly solicitedOnly?: boolean
}

/** Completions of the requests of many queue pairs: ibv_create_cq(3). */
export class CompletionQueue extends Closable {
  readonly label = 'completion queue'
  readonly device: QueueDevice
  readonly channel: EventChannel | undefined
  /** @internal */
  readonly provider: ProviderCompletionQueue
  /** @internal Conveniences whose completions arrive here. */
  readonly operations: Operations
  readonly #stash = new CompletionStash()
  readonly #scratch = new CompletionBatch(64)

  private constructor(device: QueueDevice, provider: ProviderCompletionQueue, channel: EventChannel | undefined) {
    super()
    this.device = device
    this.provider = provider
    this.channel = channel
    this.operations = new Operations(this)
  }

  /** @internal */
  static create(device: QueueDevice, options: CompletionQueueOptions): CompletionQueue {
    checkOptions('createCompletionQueue', options, names)
    const { depth, channel, vector = 0 } = options ?? {}
    checkWhole('options.depth', depth, 1, DEPTH_MAX)
    if (channel !== undefined) checkNoun('options.channel', channel, 'completion channel', CHANNEL_ORIGIN)
    checkWhole('options.vector', vector, 0, 0xffff)
    channel?.assertOpen()
    return new CompletionQueue(device, device.provider.createCompletionQueue(depth, channel?.provider, vector), channel)
  }

  /** How many completions the queue holds: at least the depth that was asked for. */
  get depth(): number {
    return this.provider.depth
  }

  /** True after more completions arrived than the queue holds; its queue pairs are in the error state. */
  get overrun(): boolean {
    return this.provider.overrun
  }

  /**
   * Fill `batch` from row 0 without blocking or allocating; returns how many rows. A failed request is a row with its
   * status.
   */
  poll(batch: CompletionBatch): number {
    this.assertOpen()
    if (!(batch instanceof CompletionBatch))
      checkInstance('batch', batch, CompletionBatch, 'such as new CompletionBatch(64)')
    if (this.#stash.count > 0) return this.#stash.take(batch)
    const count = this.provider.poll(batch)
    if (count > 0 && this.device.meter !== undefined) this.device.meter.completed(batch, count)
    if (count > 0 && rdmaTrace.wants(TraceLevel.Warn)) traceCompletions(batch, count)
    return count === 0 || this.operations.outstanding === 0 ? count : this.operations.filter(batch, count)
  }

  /**
   * Ask for one event on the channel at the next completion. Poll once more after arming: completions that arrived
   * before cause no event.
   */
  arm(options: ArmOptions = {}): void {
    this.assertOpen()
    checkOptions('arm', options, armNames)
    checkBoolean('options.solicitedOnly', options.solicitedOnly ?? false)
    if (this.channel === undefined)
      throw new ArgumentError(
        'channel',
        'this completion queue has no completion channel to deliver events; pass `channel` when you create it',
      )
    this.provider.arm(options.solicitedOnly === true)
  }

  /**
   * Resize the queue to hold at least `depth` completions: ibv_resize_cq(3). Waiting completions stay. Throws EINVAL if
   * more than `depth` are waiting.
   */
  resize(depth: number): void {
    this.assertOpen()
    checkWhole('depth', depth, 1, DEPTH_MAX)
    this.provider.resize(depth)
  }

  /** @internal Poll on behalf of conveniences; what belongs to the user is kept for the next `poll`. */
  reap(): void {
    const batch = this.#scratch
    for (let count = this.provider.poll(batch); count > 0; count = this.provider.poll(batch)) {
      this.device.meter?.completed(batch, count)
      if (rdmaTrace.wants(TraceLevel.Warn)) traceCompletions(batch, count)
      this.#stash.add(batch, this.operations.filter(batch, count))
    }
  }

  protected release(): void {
    this.provider.destroy()
    this.operations.abandon()
    this.device.completionQueues.remove(this)
  }
}

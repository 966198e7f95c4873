import {
  checkBoolean,
  checkFunction,
  checkOptions,
  checkSignal,
  type OptionNames,
  TimeoutError,
} from '../native/index.ts'
import type { ProviderCompletionChannel } from '../providers/index.ts'
import { untilAborted } from '../runtime/index.ts'
import type { CompletionQueue, EventChannel, QueueDevice } from './completion-queue.ts'
import { checkTimeout } from './field-checks.ts'
import { type Children, Closable } from './lifetime.ts'

/** A device, as its completion channels know it. */
export interface ChannelDevice extends QueueDevice {
  /** @internal */
  readonly channels: Children<CompletionChannel>
  createCompletionChannel(): CompletionChannel
}

export interface WaitOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

interface ReadyOptions {
  readonly keepAlive?: boolean
}

const waitNames: OptionNames<WaitOptions> = { signal: true, timeoutMs: true }
const readyNames: OptionNames<ReadyOptions> = { keepAlive: true }

/**
 * Delivers the events of completion queues on one descriptor: ibv_create_comp_channel(3). Many queues may share it. To
 * lose no event: call `queue.arm()`, poll until empty, then wait. After the event, call `drain()` and start again.
 */
export class CompletionChannel extends Closable implements EventChannel {
  readonly label = 'completion channel'
  readonly device: ChannelDevice
  /** @internal */
  readonly provider: ProviderCompletionChannel

  /** @internal Made by {@link Device.createCompletionChannel}. */
  constructor(device: ChannelDevice, provider: ProviderCompletionChannel) {
    super()
    this.device = device
    this.provider = provider
  }

  /** Readable while an event waits; for poll(2), epoll(7) and the like. Do not read from it; `drain()` does. */
  get descriptor(): number {
    this.assertOpen()
    return this.provider.descriptor
  }

  /**
   * Take and acknowledge all waiting events. Returns each queue they came from once; the queue may hold no completion.
   */
  drain(): CompletionQueue[] {
    this.assertOpen()
    const fired: CompletionQueue[] = []
    this.provider.drain((provider) => {
      for (const queue of this.device.completionQueues) if (queue.provider === provider) fired.push(queue)
    })
    return fired
  }

  /** Wait on the event loop for an event, without taking it. Rejects with TimeoutError or the signal's reason. */
  async wait(options: WaitOptions = {}): Promise<void> {
    this.assertOpen()
    checkOptions('wait', options, waitNames)
    const { signal, timeoutMs } = options
    checkSignal('options.signal', signal)
    checkTimeout(timeoutMs)
    let forget = (): void => {}
    const event = new Promise<void>((resolve, reject) => {
      const cancel = this.provider.whenReadable(resolve, true)
      const tooLate = (): void => reject(new TimeoutError(`no completion event arrived within ${timeoutMs} ms`))
      const timer = timeoutMs === undefined ? undefined : setTimeout(tooLate, timeoutMs)
      forget = () => {
        cancel()
        clearTimeout(timer)
      }
    })
    await untilAborted(event, signal, forget).finally(forget)
  }

  /**
   * Call `ready` once, on the event loop, when an event waits; the event is not taken. Returns a function that cancels
   * the call. Unlike `wait` it makes no promise for each event, and it keeps the program alive only if asked to.
   */
  whenReadable(ready: () => void, options: ReadyOptions = {}): () => void {
    this.assertOpen()
    checkFunction('ready', ready, 'to call when an event waits')
    checkOptions('whenReadable', options, readyNames)
    checkBoolean('options.keepAlive', options.keepAlive ?? false)
    return this.provider.whenReadable(ready, options.keepAlive === true)
  }

  protected release(): void {
    this.provider.destroy()
    this.device.channels.remove(this)
  }
}

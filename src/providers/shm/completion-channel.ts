import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DescriptorWatch } from '../descriptor-watch.ts'
import { Errno, VerbsError } from '../errors.ts'
import { PipeSignal } from './pipe-signal.ts'

/** A queue whose events arrive in a channel. */
interface EventSource extends ProviderCompletionQueue {
  /** True once per arming, after the event was sent (or may have been). */
  takeEvent(): boolean
}

/** A doorbell pipe. The armed completion queues of this device ring it, and their peers do through /proc. */
export class ShmCompletionChannel implements ProviderCompletionChannel {
  readonly queues: Set<EventSource> = new Set<EventSource>()
  readonly #siblings: Set<ShmCompletionChannel>
  readonly #signal: PipeSignal

  /** `siblings` are those of the device; this one is among them until it is destroyed. */
  constructor(watch: DescriptorWatch, siblings: Set<ShmCompletionChannel>) {
    this.#siblings = siblings
    this.#signal = new PipeSignal(watch)
    siblings.add(this)
  }

  get descriptor(): number {
    return this.#signal.descriptor
  }

  /** Peers open it by number. */
  get writeEnd(): number {
    return this.#signal.writeEnd
  }

  ring(): void {
    this.#signal.raise()
  }

  drain(fired: (queue: ProviderCompletionQueue) => void): number {
    if (!this.#signal.take()) return 0
    let events = 0
    for (const queue of this.queues) {
      if (!queue.takeEvent()) continue
      events += 1
      fired(queue)
    }
    return events
  }

  whenReadable(ready: () => void, keepAlive: boolean): () => void {
    return this.#signal.wait(ready, keepAlive)
  }

  destroy(): void {
    if (this.queues.size > 0)
      throw new VerbsError(
        'ibv_destroy_comp_channel',
        Errno.EBUSY,
        `${this.queues.size} completion queues still use it`,
      )
    this.#signal.close()
    this.#siblings.delete(this)
  }
}

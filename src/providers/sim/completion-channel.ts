import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Host } from './host.ts'
import { Signal } from './signal.ts'

/** Where armed completion queues report a completion. */
export class SimCompletionChannel implements ProviderCompletionChannel {
  readonly queues: Set<ProviderCompletionQueue> = new Set<ProviderCompletionQueue>()
  readonly #host: Host
  readonly #siblings: Set<SimCompletionChannel>
  readonly #signal = new Signal()
  readonly #fired = new Set<ProviderCompletionQueue>()

  /** `siblings` are those of the device; this one is among them until it is destroyed. */
  constructor(host: Host, siblings: Set<SimCompletionChannel>) {
    this.#host = host
    this.#siblings = siblings
    siblings.add(this)
  }

  get descriptor(): number {
    return this.#signal.descriptor
  }

  fire(queue: ProviderCompletionQueue): void {
    const host = this.#host
    const lost = host.kernel.stream('wakeup').chance(host.adapter.lostWakeups)
    if (lost || host.losesWakeups) return
    this.#fired.add(queue)
    this.#signal.raise()
  }

  forget(queue: ProviderCompletionQueue): void {
    this.queues.delete(queue)
    this.#fired.delete(queue)
  }

  drain(fired: (queue: ProviderCompletionQueue) => void): number {
    this.#signal.take()
    const queues = [...this.#fired]
    this.#fired.clear()
    for (const queue of queues) fired(queue)
    return queues.length
  }

  isOn(descriptor: number): boolean {
    return this.#signal.isOn(descriptor)
  }

  whenReadable(ready: () => void): () => void {
    return this.#signal.wait(ready)
  }

  destroy(): void {
    if (this.queues.size > 0) {
      const what = `${this.queues.size} completion queues still use it`
      throw new VerbsError('ibv_destroy_comp_channel', Errno.EBUSY, what)
    }
    this.#signal.close()
    this.#siblings.delete(this)
  }
}

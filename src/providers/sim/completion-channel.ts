import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { SimCompletionQueue } from './completion-queue.ts'
import type { SimDevice } from './device.ts'
import { Signal } from './signal.ts'

/** Where armed completion queues report a completion. */
export class SimCompletionChannel implements ProviderCompletionChannel {
  readonly queues: Set<SimCompletionQueue> = new Set<SimCompletionQueue>()
  readonly #device: SimDevice
  readonly #signal = new Signal()
  readonly #fired = new Set<SimCompletionQueue>()

  constructor(device: SimDevice) {
    this.#device = device
  }

  get descriptor(): number {
    return this.#signal.descriptor
  }

  fire(queue: SimCompletionQueue): void {
    const { host } = this.#device
    const lost = host.kernel.stream('wakeup').chance(host.adapter.lostWakeups)
    if (lost || host.losesWakeups) return
    this.#fired.add(queue)
    this.#signal.raise()
  }

  forget(queue: SimCompletionQueue): void {
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
    this.#device.channels.delete(this)
  }
}

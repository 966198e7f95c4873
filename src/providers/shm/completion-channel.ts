import { native } from '../../native/index.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import { ReadableWaiters } from '../readable-waiters.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import type { ShmDevice } from './device.ts'

/** A doorbell pipe. The armed completion queues of this device ring it, and their peers do through /proc. */
export class ShmCompletionChannel implements ProviderCompletionChannel {
  readonly descriptor: number
  /** Peers open it by number. */
  readonly writeEnd: number
  readonly queues: Set<ShmCompletionQueue> = new Set<ShmCompletionQueue>()
  readonly #device: ShmDevice
  readonly #waiters: ReadableWaiters

  constructor(device: ShmDevice) {
    this.#device = device
    const [readEnd, writeEnd] = native.createPipe()
    this.descriptor = readEnd
    this.writeEnd = writeEnd
    this.#waiters = new ReadableWaiters(device.watch, readEnd)
  }

  ring(): void {
    native.ringPipe(this.writeEnd)
  }

  drain(fired: (queue: ProviderCompletionQueue) => void): number {
    if (native.drainPipe(this.descriptor) === 0) return 0
    let events = 0
    for (const queue of this.queues) {
      if (!queue.takeEvent()) continue
      events += 1
      fired(queue)
    }
    return events
  }

  whenReadable(ready: () => void, keepAlive: boolean): () => void {
    return this.#waiters.add(ready, keepAlive)
  }

  destroy(): void {
    if (this.queues.size > 0)
      throw new VerbsError(
        'ibv_destroy_comp_channel',
        Errno.EBUSY,
        `${this.queues.size} completion queues still use it`,
      )
    this.#waiters.close()
    native.closeDescriptor(this.descriptor)
    native.closeDescriptor(this.writeEnd)
    this.#device.channels.delete(this)
  }
}

import type { Size } from '../../dsm/index.ts'
import { Lease } from '../lease.ts'
import { Queues } from './queue/queues.ts'
import { forgetHolders } from './queue/restored.ts'
import { Store, type StorePlace } from './store/store.ts'

/** Memory for the queues of a space, unless the first process that opens them asks for another size. */
const DEFAULT_SIZE = '256MiB'

/** One store for each space that this process has entered, however many queues and workers it has. */
const opened = new WeakMap<StorePlace['structures'], Promise<Queues>>()

/** What backends of one queue, worker or flow producer share: a hold on the store, and what interrupts their waits. */
export class StoreHold {
  readonly #lease: Lease
  readonly #size: Size | undefined
  readonly #waits = new Set<AbortController>()
  #queues: Promise<Queues> | undefined
  #ready: Queues | undefined

  constructor(space: string, size: Size | undefined) {
    this.#lease = new Lease(space)
    this.#size = size
  }

  /** The queues, once {@link open} has resolved. */
  get ready(): Queues | undefined {
    return this.#ready
  }

  /** After a failure the next call tries again. */
  open(): Promise<Queues> {
    this.#queues ??= this.#open()
    return this.#queues
  }

  async #open(): Promise<Queues> {
    try {
      const place = await this.#lease.opened()
      let queues = opened.get(place.structures)
      if (queues === undefined) {
        queues = openQueues(place, this.#size)
        opened.set(place.structures, queues)
        queues.catch(() => opened.delete(place.structures))
      }
      this.#ready = await queues
      return this.#ready
    } catch (error) {
      this.#queues = undefined
      throw error
    }
  }

  /** Wait with a signal that aborts after `timeoutMs` (0: never), or when {@link interrupt} is called. */
  async waiting<T>(timeoutMs: number, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const timer = timeoutMs > 0 ? setTimeout(() => controller.abort(), timeoutMs) : undefined
    this.#waits.add(controller)
    try {
      return await wait(controller.signal)
    } finally {
      clearTimeout(timer)
      this.#waits.delete(controller)
    }
  }

  /** End all waits now. */
  interrupt(): void {
    for (const controller of this.#waits) controller.abort()
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.interrupt()
    const queues = this.#queues
    this.#queues = undefined
    this.#ready = undefined
    // If it never opened, the caller that asked for it got the error.
    await queues?.catch(() => undefined)
    await this.#lease.release()
  }
}

async function openQueues(place: StorePlace, size: Size | undefined): Promise<Queues> {
  const queues = new Queues(await Store.open(place, size, DEFAULT_SIZE))
  await forgetHolders(queues)
  return queues
}

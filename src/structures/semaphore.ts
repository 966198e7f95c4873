import { checkAbort, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import { isTaken } from './claim.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { HeapHolds } from './heap-holds.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** The most permits that a semaphore has. */
export const PERMITS_MAX = 4096

/** Options of `semaphore()`. */
export interface SemaphoreOptions {
  /** 1 to 4096. All openers must agree. */
  readonly permits: number
}

const names: OptionNames<SemaphoreOptions> = { permits: true }

/** @throws ArgumentError */
export function checkPermits(options: SemaphoreOptions): number {
  checkOptions('semaphore', options, names)
  checkWhole('options.permits', options?.permits, 1, PERMITS_MAX)
  return options.permits
}

/** Bytes of a semaphore's body: its bell, then a word for each permit. */
export function semaphoreBytes(permits: number): number {
  return BELL_BYTES + permits * 4
}

/** One permit. It is released by `release()`, by leaving a `using` block, or by the death of its process. */
export class Permit implements Disposable {
  readonly #release: () => void

  /** @internal */
  constructor(release: () => void) {
    this.#release = release
  }

  /** Idempotent. */
  release(): void {
    this.#release()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/**
 * At most N holders at a time, among all processes.
 *
 * Each permit is a word with the name of its holder. So there is no count that a death could leave wrong: the permit of
 * a killed process is free.
 */
export class Semaphore {
  readonly name: string
  readonly permits: number
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #holds: HeapHolds
  readonly #words: number
  /** Where to look first: away from what others take. */
  #next: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, permits: number) {
    this.name = name
    this.permits = permits
    this.#heap = heap
    this.#meter = heap.meters.of('semaphore', name)
    this.#bell = new Bell(heap, offset, { meter: this.#meter })
    this.#holds = new HeapHolds(heap, this.#bell)
    this.#words = offset + BELL_BYTES
    this.#next = heap.peers.slot % permits
  }

  async acquire(options?: WaitOptions): Promise<Permit> {
    checkAbort('acquire', options)
    this.#meter.wrote()
    return await this.#bell.wait((ask) => this.#attempt(ask), options)
  }

  /** Block this thread until a permit is free. @throws TimeoutError */
  acquireSync(options?: BlockOptions): Permit {
    checkBlock('acquireSync', options)
    this.#meter.wrote()
    return this.#bell.waitSync((ask) => this.#attempt(ask), `a permit of semaphore '${this.name}'`, options)
  }

  /** Take a permit; undefined if all are taken. */
  async tryAcquire(options?: WaitOptions): Promise<Permit | undefined> {
    checkAbort('tryAcquire', options)
    return this.tryAcquireSync()
  }

  tryAcquireSync(): Permit | undefined {
    this.#meter.wrote()
    return this.#attempt(true)
  }

  /** How many permits are free now. */
  async available(options?: WaitOptions): Promise<number> {
    checkAbort('available', options)
    return this.availableSync()
  }

  availableSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    let free = 0
    for (let index = 0; index < this.permits; index += 1) if (this.#holds.isFree(this.#at(index), true)) free += 1
    return free
  }

  #attempt(ask: boolean): Permit | undefined {
    for (let looked = 0; looked < this.permits; looked += 1) {
      const index = (this.#next + looked) % this.permits
      if (!isTaken(this.#holds.claim(this.#at(index), ask))) continue
      this.#next = index
      return new Permit(this.#holds.hold(this.#at(index)))
    }
    return undefined
  }

  /** Where the word of a permit is. */
  #at(index: number): number {
    return this.#words + index * 4
  }
}

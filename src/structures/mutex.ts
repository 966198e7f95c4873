import { checkAbort } from '../native/index.ts'
import { isTaken } from './claim.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { HeapHolds } from './heap-holds.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a mutex's body: its bell, then the holder's word and the count of holds. */
export const MUTEX_BYTES: number = BELL_BYTES + 64
/** The count of holds, from the holder's word. */
export const TOKEN_OFFSET = 8

/** A hold on a mutex. It is released by `release()`, by leaving a `using` block, or by the death of its process. */
export class MutexHold implements Disposable {
  /**
   * A fencing token, raised with each hold of the mutex: what you guard with it can refuse a hold older than one it has
   * seen.
   */
  readonly token: number
  /** True if the previous holder was killed while it held the mutex: what it protects may be half changed. */
  readonly abandoned: boolean
  readonly #release: () => void

  /** @internal */
  constructor(token: number, abandoned: boolean, release: () => void) {
    this.token = token
    this.abandoned = abandoned
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
 * At most one holder at a time, among all processes. Not reentrant, and not first come, first served.
 *
 * If the holder is killed, the next process gets the mutex at once, and is told (`abandoned`). A holder that is
 * stopped, or never releases, keeps it.
 *
 * ```ts
 * using hold = await mutex.lock({ signal: AbortSignal.timeout(1000) })
 * ```
 */
export class Mutex {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #holds: HeapHolds
  readonly #word: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('mutex', name)
    this.#word = offset + BELL_BYTES
    const describe = () => heap.describeWait(`mutex '${name}'`, heap.memory.load(this.#word))
    this.#bell = new Bell(heap, offset, { meter: this.#meter, describe })
    this.#holds = new HeapHolds(heap, this.#bell)
  }

  async lock(options?: WaitOptions): Promise<MutexHold> {
    checkAbort('lock', options)
    this.#meter.wrote()
    return await this.#bell.wait((ask) => this.#attempt(ask), options)
  }

  /** Block this thread until it is held. @throws TimeoutError */
  lockSync(options?: BlockOptions): MutexHold {
    checkBlock('lockSync', options)
    this.#meter.wrote()
    return this.#bell.waitSync((ask) => this.#attempt(ask), `mutex '${this.name}'`, options)
  }

  /** Take the mutex if it is free; undefined if another process holds it. */
  async tryLock(options?: WaitOptions): Promise<MutexHold | undefined> {
    checkAbort('tryLock', options)
    return this.tryLockSync()
  }

  tryLockSync(): MutexHold | undefined {
    this.#meter.wrote()
    return this.#attempt(true)
  }

  #attempt(ask: boolean): MutexHold | undefined {
    const claim = this.#holds.claim(this.#word, ask)
    if (!isTaken(claim)) return undefined
    const token = this.#heap.memory.fetchAdd(this.#word + TOKEN_OFFSET, 1) + 1
    return new MutexHold(token, claim === 'abandoned', this.#holds.hold(this.#word))
  }
}

import { checkAbort } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a flag's body: its bell, then the word. */
export const FLAG_BYTES: number = BELL_BYTES + 64

/** A flag that all processes see up or down, and can wait for. It begins down. */
export class Flag {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #word: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('flag', name)
    this.#bell = new Bell(heap, offset, { meter: this.#meter })
    this.#word = offset + BELL_BYTES
  }

  /** Raise the flag. True if it was down. Wakes all waiters. */
  async raise(options?: WaitOptions): Promise<boolean> {
    checkAbort('raise', options)
    return this.raiseSync()
  }

  raiseSync(): boolean {
    this.#heap.checkOpen()
    this.#meter.wrote()
    const wasDown = this.#heap.memory.exchange(this.#word, 1) === 0
    this.#bell.ring()
    return wasDown
  }

  /** Lower the flag. True if it was up. */
  async lower(options?: WaitOptions): Promise<boolean> {
    checkAbort('lower', options)
    return this.lowerSync()
  }

  lowerSync(): boolean {
    this.#heap.checkOpen()
    this.#meter.wrote()
    return this.#heap.memory.exchange(this.#word, 0) === 1
  }

  async isRaised(options?: WaitOptions): Promise<boolean> {
    checkAbort('isRaised', options)
    return this.isRaisedSync()
  }

  isRaisedSync(): boolean {
    this.#meter.read()
    return this.#isUp()
  }

  /** Resolves when it is up. */
  async wait(options?: WaitOptions): Promise<void> {
    checkAbort('wait', options)
    this.#meter.read()
    await this.#bell.wait(() => this.#seen(), options)
  }

  /** Block this thread until it is up. @throws TimeoutError */
  waitSync(options?: BlockOptions): void {
    checkBlock('waitSync', options)
    this.#meter.read()
    this.#bell.waitSync(() => this.#seen(), `flag '${this.name}'`, options)
  }

  #seen(): true | undefined {
    return this.#isUp() || undefined
  }

  #isUp(): boolean {
    this.#heap.checkOpen()
    return this.#heap.memory.load(this.#word) === 1
  }
}

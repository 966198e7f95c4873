import { checkAbort, checkFunction } from '../native/index.ts'
import { isTaken } from './claim.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { DONE, HeapHolds } from './heap-holds.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a once's body: its bell, then the word. */
export const ONCE_BYTES: number = BELL_BYTES + 64

/** Work that one process does, and all others find done. */
export class Once {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #holds: HeapHolds
  /** 0, the word of the process that does it, or {@link DONE}. */
  readonly #word: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('once', name)
    this.#word = offset + BELL_BYTES
    const describe = () => heap.describeWait(`'${name}' to be done`, this.#doer())
    this.#bell = new Bell(heap, offset, { meter: this.#meter, describe })
    this.#holds = new HeapHolds(heap, this.#bell)
  }

  /**
   * Run `work` once for all processes together. Resolves when it is done: true if this call did it. If `work` throws,
   * or its process is killed, it is not done, and the next caller runs it. So it must be safe to start it again.
   */
  async run(work: () => unknown, options?: WaitOptions): Promise<boolean> {
    checkFunction('work', work, 'without parameters')
    checkAbort('run', options)
    this.#meter.wrote()
    const ours = await this.#bell.wait((ask) => this.#attempt(ask), options)
    if (!ours) return false
    const letGo = this.#holds.hold(this.#word)
    try {
      await work()
      return this.#done()
    } finally {
      letGo()
    }
  }

  /** The same, blocking this thread while another process does it. @throws TimeoutError */
  runSync(work: () => unknown, options?: BlockOptions): boolean {
    checkFunction('work', work, 'without parameters')
    checkBlock('runSync', options)
    this.#meter.wrote()
    if (!this.#bell.waitSync((ask) => this.#attempt(ask), `'${this.name}' to be done`, options)) return false
    const letGo = this.#holds.hold(this.#word)
    try {
      work()
      return this.#done()
    } finally {
      letGo()
    }
  }

  async isDone(options?: WaitOptions): Promise<boolean> {
    checkAbort('isDone', options)
    return this.isDoneSync()
  }

  isDoneSync(): boolean {
    this.#heap.checkOpen()
    this.#meter.read()
    return this.#heap.memory.load(this.#word) === DONE
  }

  /** 0 if no process does it. */
  #doer(): number {
    const doer = this.#heap.memory.load(this.#word)
    return doer === DONE ? 0 : doer
  }

  /** True: it is ours to do; false: it is done. */
  #attempt(ask: boolean): boolean | undefined {
    const claim = this.#holds.claim(this.#word, ask)
    return claim === 'done' ? false : isTaken(claim) || undefined
  }

  /**
   * @throws ClosedError if the structures were closed meanwhile: the work was given up, and no process will know that
   *   it was done.
   */
  #done(): true {
    this.#heap.checkOpen()
    this.#holds.end(this.#word, DONE)
    return true
  }
}

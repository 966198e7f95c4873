import { checkAbort, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { CELL_BODY_BYTES, CellCore } from './rcu/cell-core.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a barrier's body: its bell, then the cell with its state. */
export const CYCLIC_BARRIER_BYTES: number = BELL_BYTES + CELL_BODY_BYTES

/** The most parties of a barrier. */
export const PARTIES_MAX = 4096

/** Options of `barrier()`. */
export interface CyclicBarrierOptions {
  /** How many wait for each other: 1 to 4096. */
  readonly parties: number
}

const names: OptionNames<CyclicBarrierOptions> = { parties: true }

/** @throws ArgumentError */
export function checkParties(options: CyclicBarrierOptions): number {
  checkOptions('barrier', options, names)
  checkWhole('options.parties', options?.parties, 1, PARTIES_MAX)
  return options.parties
}

/** How often the barrier has opened, modulo 2^32, then the owner's word of each that has arrived. */
type State = Int32Array

/**
 * A place where a number of processes wait for each other, again and again. When all parties have arrived it opens for
 * them, and starts again.
 *
 * The whole state is one version of a cell, which each arrival replaces by one compare-and-swap. The arrival of a
 * process that is killed, or gives up waiting, does not count: the barrier then waits for one more. A process may
 * arrive for several parties at a time, by several calls.
 */
export class CyclicBarrier {
  readonly name: string
  readonly parties: number
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #cell: CellCore

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, parties: number) {
    this.name = name
    this.parties = parties
    this.#heap = heap
    this.#meter = heap.meters.of('barrier', name)
    this.#bell = new Bell(heap, offset, { meter: this.#meter })
    this.#cell = new CellCore(heap, offset + BELL_BYTES)
  }

  /**
   * Arrive, and wait for the others. Resolves with true for the last that arrived, false for the others.
   * @throws HeapFullError; it has not arrived then.
   */
  async wait(options: WaitOptions = {}): Promise<boolean> {
    checkAbort('wait', options)
    this.#meter.wrote()
    const opening = this.#arrive()
    if (opening === undefined) return true
    using arrival = this.#arrivalFor(opening)
    try {
      await this.#bell.wait(() => this.#hasOpened(opening) || undefined, options)
    } catch (error) {
      if (arrival.withdraw()) throw error
    }
    return false
  }

  /** The same, blocking this thread. @throws TimeoutError, HeapFullError */
  waitSync(options?: BlockOptions): boolean {
    checkBlock('waitSync', options)
    this.#meter.wrote()
    const opening = this.#arrive()
    if (opening === undefined) return true
    using arrival = this.#arrivalFor(opening)
    try {
      this.#bell.waitSync(() => this.#hasOpened(opening) || undefined, `barrier '${this.name}'`, options)
    } catch (error) {
      if (arrival.withdraw()) throw error
    }
    return false
  }

  /** How many have arrived and wait. */
  async waiting(options?: WaitOptions): Promise<number> {
    checkAbort('waiting', options)
    return this.waitingSync()
  }

  waitingSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return this.#living(this.#read().state.subarray(1)).length
  }

  /** Which opening it waits for; undefined if this arrival opened the barrier. */
  #arrive(): number | undefined {
    this.#heap.checkOpen()
    for (;;) {
      const { version, state } = this.#read()
      const opening = state[0]!
      let arrived = [...state.subarray(1), this.#heap.owner]
      // Only now does it matter whether all are alive.
      if (arrived.length >= this.parties) arrived = this.#living(arrived)
      const opens = arrived.length >= this.parties
      if (!this.#replace(version, opens ? [opening + 1] : [opening, ...arrived], false)) continue
      if (!opens) return opening
      this.#bell.ring()
      return undefined
    }
  }

  /** Take the arrival back. False if the barrier has opened for it. */
  #withdraw(opening: number): boolean {
    for (;;) {
      const { version, state } = this.#read()
      if (state[0] !== opening) return false
      const own = 1 + state.subarray(1).lastIndexOf(this.#heap.owner)
      // Room is kept for this: a wait that ends must not stay in the count.
      if (this.#replace(version, [...state.subarray(0, own), ...state.subarray(own + 1)], true)) return true
    }
  }

  /** While it is held, closing the structures takes the arrival back. */
  #arrivalFor(opening: number): Disposable & { withdraw(): boolean } {
    let withdrawn: boolean | undefined
    const letGo = this.#heap.hold(() => {
      withdrawn = this.#withdraw(opening)
    })
    const withdraw = () => {
      letGo()
      return withdrawn !== false
    }
    return { withdraw, [Symbol.dispose]: letGo }
  }

  #hasOpened(opening: number): boolean {
    return this.#read().state[0] !== opening
  }

  #living(owners: Iterable<number>): number[] {
    return [...owners].filter((owner) => this.#heap.isHolderThere(owner, true))
  }

  #read(): { readonly version: number; readonly state: State } {
    const { epochs } = this.#heap
    epochs.enter()
    try {
      const block = this.#cell.load()
      if (block === 0) return { version: 0, state: Int32Array.of(0) }
      const { buffer } = Uint8Array.from(this.#cell.viewOf(block))
      return { version: this.#cell.versionOf(block), state: new Int32Array(buffer) }
    } finally {
      epochs.exit()
    }
  }

  /** False if another process replaced it meanwhile. */
  #replace(version: number, state: readonly number[], essential: boolean): boolean {
    const bytes = new Uint8Array(Int32Array.from(state).buffer)
    return this.#cell.assign(bytes, version, essential) !== 0
  }
}

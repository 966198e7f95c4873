import { checkAbort, checkFunction, checkInstance, mustBe } from '../../native/index.ts'
import { StructureError } from '../errors.ts'
import type { Heap } from '../heap/heap.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from '../waiting/wait-options.ts'
import { Callbacks } from './callbacks.ts'
import { type GracePeriodState, GracePeriods } from './grace-periods.ts'
import { RcuCell } from './rcu-cell.ts'
import { ReadSection } from './read-section.ts'

/**
 * Read-copy-update, among processes. Readers do not wait for writers, nor writers for readers. A writer replaces the
 * whole value and, if needed, waits until no reader can still be looking at the previous one.
 *
 * ```ts
 * const { rcu } = shared
 * const prices = await shared.cell<Prices>('prices')
 * rcu.assignSync(prices, { apple: 3 })
 * {
 *   using section = rcu.readLock()
 *   console.log(rcu.dereference(prices))
 * }
 * ```
 *
 * Sections and grace periods are those of all structures of a region together.
 */
export class Rcu {
  readonly #heap: Heap
  readonly #periods: GracePeriods
  readonly #callbacks: Callbacks<GracePeriodState>

  /** @internal */
  constructor(heap: Heap) {
    this.#heap = heap
    this.#periods = new GracePeriods(heap)
    this.#callbacks = new Callbacks(this.#periods)
  }

  /**
   * Begin a section in which to read. Sections may overlap and last across an `await`. But memory that is freed
   * meanwhile, in any structure of the region, waits for the section's end.
   */
  readLock(): ReadSection {
    this.#heap.checkOpen()
    return new ReadSection(this.#heap)
  }

  /**
   * The cell's value, undefined before the first assignment. It is decoded once for each version, so all callers in
   * this thread get the same object: do not change it.
   * @throws StructureError outside of every section.
   */
  dereference<V>(cell: RcuCell<V>): V | undefined {
    this.#checkCell(cell)
    this.#checkReading(cell.name)
    return cell.read().value
  }

  /**
   * The bytes of the cell's value where they lie in memory, without a copy. Do not write to them. They stay as they are
   * until the section ends; after that the memory may have another use.
   * @throws StructureError outside of every section.
   */
  dereferenceBytes(cell: RcuCell<unknown>): Uint8Array | undefined {
    this.#checkCell(cell)
    this.#checkReading(cell.name)
    return cell.view()
  }

  /**
   * Replace the cell's value. Resolves with the number of the new version. Memory of the old one is used again after a
   * grace period. @throws HeapFullError
   */
  async assign<V>(cell: RcuCell<V>, value: V, options?: WaitOptions): Promise<number> {
    checkAbort('assign', options)
    return this.assignSync(cell, value)
  }

  assignSync<V>(cell: RcuCell<V>, value: V): number {
    this.#heap.checkOpen()
    this.#checkCell(cell)
    return cell.assign(value)
  }

  /**
   * Replace the value by the result of `change`, which must not alter the old one. If another process is faster,
   * `change` is called again. Resolves with the new value.
   */
  async update<V>(cell: RcuCell<V>, change: (value: V | undefined) => V, options?: WaitOptions): Promise<V> {
    checkAbort('update', options)
    return this.updateSync(cell, change)
  }

  updateSync<V>(cell: RcuCell<V>, change: (value: V | undefined) => V): V {
    this.#checkCell(cell)
    checkFunction('change', change, 'from the present value to the next')
    for (;;) {
      const { version, value } = this.#read(cell)
      const changed = change(value)
      if (cell.assign(changed, version) !== 0) return changed
    }
  }

  /**
   * Resolves when all sections that are open now, in any process, have ended. Waits for ever if its own caller is in
   * one.
   */
  async synchronize(options?: WaitOptions): Promise<void> {
    checkAbort('synchronize', options)
    this.#heap.checkOpen()
    await this.#periods.wait(this.#periods.state(), options)
  }

  /** The same, blocking this thread. @throws TimeoutError; StructureError if this thread is in a section itself. */
  synchronizeSync(options?: BlockOptions): void {
    checkBlock('synchronizeSync', options)
    this.#heap.checkOpen()
    if (this.#heap.epochs.stays)
      throw misuse('synchronizeSync', 'this thread is in a section and would wait for itself; end the section first')
    this.#periods.waitSync(this.#periods.state(), options)
  }

  /**
   * Run `callback` in this process after a grace period, in the order of these calls. It keeps the process alive. If
   * the structures are closed before, it is not run.
   */
  call(callback: () => void): void {
    checkFunction('callback', callback, 'without parameters')
    this.#heap.checkOpen()
    this.#callbacks.add(callback)
  }

  /** Resolves when all callbacks that this process has given to {@link call} before have run. */
  async barrier(options?: WaitOptions): Promise<void> {
    checkAbort('barrier', options)
    this.#heap.checkOpen()
    await this.#callbacks.barrier(options)
  }

  /** The present moment, for {@link pollState}. */
  getState(): GracePeriodState {
    this.#heap.checkOpen()
    return this.#periods.state()
  }

  /**
   * Whether all sections that were open at that moment have ended. Asking helps a grace period on, so asking from time
   * to time is enough.
   */
  pollState(state: GracePeriodState): boolean {
    this.#heap.checkOpen()
    if (!Number.isSafeInteger(state?.epoch)) throw mustBe('state', 'what getState() returned', state)
    return this.#periods.hasPassed(state, true)
  }

  #read<V>(cell: RcuCell<V>): { readonly version: number; readonly value: V | undefined } {
    using _section = this.readLock()
    return cell.read()
  }

  #checkCell(cell: RcuCell<unknown>): void {
    checkInstance('cell', cell, RcuCell, 'as cell() of the same structures resolves with')
    if (cell.heap !== this.#heap) throw mustBe('cell', 'one of the same structures', cell)
  }

  #checkReading(name: string): void {
    this.#heap.checkOpen()
    if (!this.#heap.epochs.stays) throw misuse(name, `'${name}' was read outside of a section; call readLock() first`)
  }
}

function misuse(structure: string, why: string): StructureError {
  return new StructureError('ERR_AETHER_READ_SECTION', structure, why)
}

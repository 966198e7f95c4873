import { ClosedError, checkAbort, checkFunction, checkInstance, mustBe } from '../../../native/index.ts'
import { StructureError } from '../../errors.ts'
import { Callbacks } from '../../rcu/callbacks.ts'
import type { Rcu } from '../../rcu/rcu.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { GroupMemory } from '../memory/group-memory.ts'
import type { Promised } from '../memory/promised.ts'
import type { Bells } from '../waiting/bells.ts'
import { type GroupGracePeriodState, GroupGracePeriods } from './grace-periods.ts'
import { GroupCell } from './group-cell.ts'
import { ReadSections } from './read-sections.ts'
import { ReaderBells } from './reader-bells.ts'

/** The readers at this rank, and waiting for all readers at all ranks. */
export interface Readers {
  readonly sections: ReadSections
  readonly periods: GroupGracePeriods
}

/**
 * A section from {@link GroupRcu.readLock} to {@link readUnlock}. A grace period that begins meanwhile waits for its
 * end. It also ends with `using`.
 */
export class GroupReadSection implements Disposable {
  readonly #sections: ReadSections
  readonly #section: number

  /** @internal */
  constructor(sections: ReadSections) {
    this.#sections = sections
    this.#section = sections.begin()
  }

  /** Idempotent. */
  readUnlock(): void {
    this.#sections.end(this.#section)
  }

  [Symbol.dispose](): void {
    this.readUnlock()
  }
}

/**
 * Read-copy-update, among the ranks of a group; as {@link Rcu} on one machine, but to dereference is a round trip, so
 * it returns a promise.
 *
 * ```ts
 * const { rcu } = shared
 * const prices = await shared.cell<Prices>('prices')
 * await rcu.assign(prices, { apple: 3 })
 * {
 *   using section = rcu.readLock()
 *   console.log(await rcu.dereference(prices))
 * }
 * ```
 *
 * A section is recorded in the memory of the reader's rank, and ranks that wait for readers read it there. So to begin
 * and to end a section is a store each. Why a grace period waits for enough:
 *
 * 1. A reader has recorded that its section has begun before its READ of a cell is carried out.
 * 2. A rank that replaces the cell reads how many sections have begun after its compare-and-swap has been carried out.
 * 3. So take a section that got the old version. Its start is seen, and its end is waited for. Otherwise its READ came
 *    after the swap, and it got the new version.
 * 4. Both numbers only rise, so it does not matter that they are not read at one moment.
 *
 * Ranks that are out of the group are not waited for. The group reports a rank that dies, at the latest when its lease
 * is over. A rank that was stopped for that long ends itself when it goes on. Until then a rank that does not answer is
 * waited for, for 30 s. Memory does not depend on any of this: see {@link GroupCell}.
 */
export class GroupRcu implements Pick<Promised<Rcu>, 'synchronize' | 'call' | 'barrier'> {
  readonly #sections: ReadSections
  readonly #periods: GroupGracePeriods
  readonly #callbacks: Callbacks<GroupGracePeriodState>
  readonly #group: GroupMemory

  /** @internal */
  constructor(group: GroupMemory, bells: Bells) {
    this.#group = group
    const readers = new ReaderBells(group, bells)
    this.#sections = new ReadSections(group, () => readers.ended())
    this.#periods = new GroupGracePeriods(group, this.#sections, readers)
    this.#callbacks = new Callbacks(this.#periods)
  }

  /** @internal */
  get readers(): Readers {
    return { sections: this.#sections, periods: this.#periods }
  }

  /**
   * Begin a section in which to read. Sections may overlap, and last as long as you like: they delay only callers that
   * wait for readers.
   */
  readLock(): GroupReadSection {
    this.#checkOpen()
    return new GroupReadSection(this.#sections)
  }

  /**
   * The cell's value, undefined before the first assignment. It is decoded once for each version, so all callers with
   * this cell get the same object: do not change it. A round trip, and one more for a version that is new here.
   * @throws StructureError outside of every section; HomeLostError.
   */
  async dereference<V>(cell: GroupCell<V>): Promise<V | undefined> {
    this.#checkCell(cell)
    this.#checkReading(cell.name)
    return (await cell.read()).value
  }

  /** A copy of the cell's bytes, undefined before the first version. @throws as {@link dereference}. */
  async dereferenceBytes(cell: GroupCell<unknown>): Promise<Uint8Array | undefined> {
    this.#checkCell(cell)
    this.#checkReading(cell.name)
    const { version, bytes } = await cell.load()
    return version === 0 ? undefined : bytes.slice()
  }

  /**
   * Replace the cell's value. Resolves with the number of the new version. A round trip, and two more for each
   * assignment by another rank in between. @throws HeapFullError, HomeLostError
   */
  async assign<V>(cell: GroupCell<V>, value: V, options?: WaitOptions): Promise<number> {
    this.#checkOpen()
    checkAbort('assign', options)
    this.#checkCell(cell)
    return await cell.assign(value, options?.signal)
  }

  /**
   * Replace the value by the result of `change`, which must not alter the old one. If another rank is faster, `change`
   * is called again. Resolves with the new value.
   */
  async update<V>(cell: GroupCell<V>, change: (value: V | undefined) => V, options?: WaitOptions): Promise<V> {
    this.#checkOpen()
    this.#checkCell(cell)
    checkFunction('change', change, 'from the present value to the next')
    checkAbort('update', options)
    for (;;) {
      options?.signal?.throwIfAborted()
      const { version, value } = await cell.read()
      const changed = change(value)
      if ((await cell.assign(changed, options?.signal, version)) !== 0) return changed
    }
  }

  /**
   * Resolves when all sections that are open now, at any rank, have ended. A round trip if there are none. Waits for
   * ever if its own caller is in one.
   * @throws HomeLostError if a rank that the group still has cannot be reached for 30 s.
   */
  async synchronize(options?: WaitOptions): Promise<void> {
    checkAbort('synchronize', options)
    this.#checkOpen()
    await this.#periods.waitBounded(this.#periods.state(), options)
  }

  /**
   * Run `callback` at this rank after a grace period, in the order of these calls. It keeps the process alive. If the
   * structures are closed before, it is not run.
   */
  call(callback: () => void): void {
    checkFunction('callback', callback, 'without parameters')
    this.#checkOpen()
    this.#callbacks.add(callback)
  }

  /**
   * Resolves when all callbacks that this rank has given to {@link call} before have run. @throws HomeLostError as
   * {@link synchronize}. Then the callbacks wait until the group has given that rank up.
   */
  async barrier(options?: WaitOptions): Promise<void> {
    checkAbort('barrier', options)
    this.#checkOpen()
    const ran = this.#callbacks.barrier(options)
    ran.catch(() => {})
    await this.#periods.waitBounded(this.#periods.state(), options)
    await ran
  }

  /** The present moment, for {@link pollState}. */
  getState(): GroupGracePeriodState {
    this.#checkOpen()
    return this.#periods.state()
  }

  /**
   * Whether all sections that were open at that moment have ended. Asking helps a grace period on, so asking from time
   * to time is enough. A round trip or two.
   */
  async pollState(state: GroupGracePeriodState): Promise<boolean> {
    this.#checkOpen()
    if (!Number.isSafeInteger(state?.begun)) throw mustBe('state', 'what getState() returned', state)
    return await this.#periods.poll(state)
  }

  /** @internal This rank's sections end. */
  close(): void {
    this.#sections.close()
  }

  #checkOpen(): void {
    if (this.#sections.closed) throw new ClosedError('the structures of the group')
  }

  #checkCell(cell: GroupCell<unknown>): void {
    checkInstance('cell', cell, GroupCell, 'as cell() of the same structures resolves with')
    if (cell.memory.group !== this.#group) throw mustBe('cell', 'one of the same structures', cell)
  }

  #checkReading(name: string): void {
    this.#checkOpen()
    if (this.#sections.any) return
    const why = `'${name}' was read outside of a section; call readLock() first`
    throw new StructureError('ERR_AETHER_READ_SECTION', name, why)
  }
}

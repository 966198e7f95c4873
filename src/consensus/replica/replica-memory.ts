import { DefectError, native } from '../../native/index.ts'
import { Access, type MemoryRegion, type ProtectionDomain } from '../../verbs/index.ts'
import { type AcceptedEntry, readCell, writeCell } from './cell.ts'
import type { Recovered } from './journal.ts'
import { HeadWord, ReplicaLayout } from './layout.ts'
import type { ReplicaSettings } from './settings.ts'
import { isOfLap, lapOf, packWord, unpackWord } from './slot-word.ts'
import type { VoterHead } from './voter-view.ts'

/** An acceptor's memory as its own process sees it. Others reach it one-sided, by the same layout. */
export class ReplicaMemory implements VoterHead {
  readonly id: number
  readonly layout: ReplicaLayout
  readonly region: MemoryRegion
  /** Of its memory object, for processes of its machine; undefined on devices that do not share memory. */
  readonly descriptor: number | undefined
  readonly #words: BigUint64Array
  readonly #mapping: ArrayBuffer | undefined

  constructor(domain: ProtectionDomain, settings: ReplicaSettings, id: number) {
    this.id = id
    this.layout = new ReplicaLayout(settings)
    const rights = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
    const { lengthBytes } = this.layout
    if (domain.device.attributes.linkLayer === 'tcp') {
      // The device would take memory that no other process finds.
      this.descriptor = native.createMemory('aether-replica', lengthBytes, 0)
      this.#mapping = native.mapMemory(this.descriptor, 0, lengthBytes, 0)
      this.region = domain.register(this.#mapping, rights)
    } else {
      this.region = domain.allocate(lengthBytes, rights)
      this.descriptor = this.region.origin?.descriptor
    }
    const { buffer, byteOffset } = this.region.bytes
    this.#words = new BigUint64Array(buffer, byteOffset, this.layout.headBytes / 8)
    this.#set(HeadWord.Id, id)
  }

  get promise(): number {
    return this.#get(HeadWord.Promise)
  }

  get counter(): number {
    return this.#get(HeadWord.Counter)
  }

  set counter(value: number) {
    this.#set(HeadWord.Counter, value)
  }

  get taken(): number {
    return this.#get(HeadWord.Taken)
  }

  set taken(index: number) {
    this.#set(HeadWord.Taken, index)
  }

  set left(term: number) {
    this.#set(HeadWord.Left, term)
  }

  get known(): number {
    return this.#get(HeadWord.Known)
  }

  /** Written before others can know of that entry. */
  set known(index: number) {
    this.#set(HeadWord.Known, index)
  }

  get leads(): number {
    return this.#get(HeadWord.Leads)
  }

  set leads(term: number) {
    this.#set(HeadWord.Leads, term)
  }

  get version(): number {
    return this.#get(HeadWord.Version)
  }

  set version(version: number) {
    this.#set(HeadWord.Version, version)
  }

  /** How its slots are written: see `AcceptorView`. Set before anyone reaches them. */
  set isByRights(isByRights: boolean) {
    this.#set(HeadWord.ByRights, isByRights ? 1 : 0)
  }

  get isByRights(): boolean {
    return this.#get(HeadWord.ByRights) === 1
  }

  get granted(): number {
    return this.#get(HeadWord.Granted)
  }

  set granted(term: number) {
    this.#set(HeadWord.Granted, term)
  }

  get check(): bigint {
    return this.#word(HeadWord.Check)
  }

  set check(packed: bigint) {
    Atomics.store(this.#words, HeadWord.Check / 8, packed)
  }

  /** All entries up to this one are decided, and those not taken yet lie here. */
  get decided(): number {
    let decided = 0
    for (let frame = 0; frame < this.layout.frames; frame += 1)
      decided = Math.max(decided, this.#get(this.layout.commit(frame)))
    return decided
  }

  /** The frame that `replica` may write, given to it now if it has none. Undefined if all are in use. */
  frameFor(replica: number): number | undefined {
    let free: number | undefined
    for (let frame = 0; frame < this.layout.frames; frame += 1) {
      const owner = this.#get(this.layout.owner(frame))
      if (owner === replica + 1) return frame
      if (owner === 0) free ??= frame
    }
    if (free !== undefined) this.#set(this.layout.owner(free), replica + 1)
    return free
  }

  /**
   * Nothing from `replica` can land here any more. Its frame is free once no slot names it, which is looked at when the
   * next frame is needed.
   */
  release(replica: number): void {
    for (let frame = 0; frame < this.layout.frames; frame += 1) {
      if (this.#get(this.layout.owner(frame)) !== replica + 1 || this.#isNamed(frame)) continue
      this.#set(this.layout.owner(frame), 0)
      this.#set(this.layout.commit(frame), 0)
    }
  }

  /** The entry that was accepted with that index; undefined if none was, or not all of it can be seen yet. */
  accepted(index: number): AcceptedEntry | undefined {
    const { layout } = this
    const state = unpackWord(this.#word(layout.slot(index)))
    if (state.frame < 0 || !isOfLap(state, lapOf(index, layout.window))) return undefined
    const begin = layout.cell(state.frame, state.bank, index)
    return readCell(this.region.bytes.subarray(begin, begin + layout.cellBytes), index)
  }

  /**
   * Be what the acceptor was before it ended, by its journal. `frame` holds what was accepted and is not decided. Slots
   * of decided entries are as if they had been prepared for the next lap. So a leader that asks for such an entry
   * learns that it is behind, and not that nothing was accepted.
   */
  recover({ promise, decided, entries }: Recovered, frame: number): void {
    const { layout } = this
    this.#set(HeadWord.Promise, promise)
    this.taken = decided
    const open = new Map(entries.map((entry) => [entry.index, entry]))
    const last = entries.at(-1)?.index ?? decided
    if (last > decided + layout.window)
      throw new DefectError(`entry ${last} is far behind the last decided one, ${decided}`)
    for (let index = decided + 1; index <= decided + layout.window; index += 1) {
      const entry = open.get(index)
      if (entry !== undefined) writeCell(this.region.bytes.subarray(layout.cell(frame, 0, index)), entry, entry)
      const word = packWord(promise, lapOf(index, layout.window), entry === undefined ? -1 : frame)
      Atomics.store(this.#words, layout.slot(index) / 8, word)
    }
  }

  close(): void {
    this.region.close()
    if (this.#mapping === undefined) return
    native.unmapMemory(this.#mapping)
    native.closeDescriptor(this.descriptor!)
  }

  /** A slot of an entry that was taken no longer counts. */
  #isNamed(frame: number): boolean {
    const { layout, taken } = this
    for (let index = taken + 1; index <= taken + layout.window; index += 1) {
      const state = unpackWord(this.#word(layout.slot(index)))
      if (state.frame === frame && isOfLap(state, lapOf(index, layout.window))) return true
    }
    return false
  }

  #word(offset: number): bigint {
    return Atomics.load(this.#words, offset / 8)
  }

  #get(offset: number): number {
    return Number(this.#word(offset))
  }

  #set(offset: number, value: number): void {
    Atomics.store(this.#words, offset / 8, BigInt(value))
  }
}

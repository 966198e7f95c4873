import { mustBe } from '../native/index.ts'
import type { Block, BlockOwner, BlockPlace } from './block.ts'
import {
  BlockKind,
  BlockRole,
  eraseHeader,
  readHeader,
  sheetsFor,
  shortLabel,
  slotsAt,
  writeHeader,
} from './block-header.ts'
import { CounterBlock } from './counter-block.ts'
import { type CounterLayout, checkLayout, defineHistogram } from './counter-layout.ts'
import { addHistogram, HISTOGRAM_SLOTS, HistogramBlock } from './histogram-block.ts'
import { encodeNames } from './layout-names.ts'
import { Sheets } from './sheets.ts'

/** Length of one member's profiling area in bytes. */
export const PROFILING_AREA_BYTES = 131_072

interface Placed extends BlockPlace {
  /** First sheet; -1 for a block that found no place. */
  readonly sheet: number
  readonly serial: number
  readonly role: number
}

/**
 * The place in shared memory where one thread of a member puts its blocks. Several threads may have one over the same
 * memory (drawn in `sheets.ts`).
 *
 * When the counted object ends (`block.close()`), the block's figures are added to *the rest* of its layout, and its
 * place is freed. So totals are kept, and many connections that come and go do not fill the area. When the area is
 * full, a block counts in the rest at once. If the rest found no place either, it counts in private memory: counting
 * must never make a program fail. The area reports how many found no place ({@link Profile.unplaced}).
 */
export class ProfilingArea implements BlockOwner {
  #thread: number
  readonly #blocks = new Map<Block, Placed>()
  /** By kind and layout. */
  readonly #rests = new Map<string, Block>()
  /** At which sheet the names of a layout are. */
  readonly #named = new Map<number, number>()
  #sheets: Sheets

  /** Opens an area over zeroed or used shared memory. `thread` is the id of the calling thread, for readers. */
  constructor(
    buffer: ArrayBufferLike,
    offsetBytes: number = 0,
    lengthBytes: number = PROFILING_AREA_BYTES,
    thread: number = 0,
  ) {
    this.#sheets = new Sheets(buffer, offsetBytes, lengthBytes)
    this.#thread = thread
  }

  /**
   * Make new counters, all 0, for the calling thread. `label` says which of several objects: a method, a queue pair.
   */
  counters<Name extends string>(layout: CounterLayout<Name>, label = ''): CounterBlock<Name> {
    checkLayout(layout)
    checkLabel(label)
    return this.#open(label, (name, place) => new CounterBlock(layout, name, place, this), BlockKind.Counters, layout)
  }

  /** Make a new empty histogram for the calling thread. */
  histogram(layout: CounterLayout | string, label = ''): HistogramBlock {
    const named = typeof layout === 'string' ? defineHistogram(layout) : layout
    checkLayout(named)
    checkLabel(label)
    return this.#open(label, (name, place) => new HistogramBlock(named, name, place, this), BlockKind.Histogram, named)
  }

  /** @internal but declared, for an interface has it: {@link Block.close}. */
  close(block: Block): void {
    const placed = this.#blocks.get(block)
    if (placed === undefined || placed.role === BlockRole.Rest) return
    const rest = this.#rests.get(keyOf(block.kind, block.layout))
    if (placed.sheet < 0) {
      this.#sheets.countUnplaced(-1)
      // It counted in private memory; if a rest has found a place since, that takes the figures up.
      if (rest !== undefined && !this.#countsInRest(block, placed)) fold(block, rest)
    } else {
      this.#sheets.transfer(() => {
        if (rest?.shared === true) {
          fold(block, rest)
          this.#giveBack(placed)
        } else this.#giveToRest(block, placed)
      })
    }
    this.#blocks.delete(block)
    block.moveTo({ slots: new Float64Array(block.slots.length), shared: false })
  }

  /**
   * Move all blocks into other memory, with their figures. Writers go on there: therefore they read `slots` again for
   * each use.
   * @internal
   */
  moveTo(
    buffer: ArrayBufferLike,
    offsetBytes: number = 0,
    lengthBytes: number = PROFILING_AREA_BYTES,
    thread: number = this.#thread,
  ): void {
    const sheets = new Sheets(buffer, offsetBytes, lengthBytes)
    const before = this.#sheets
    // The rests first: what finds no place counts there.
    const blocks = [...this.#blocks].sort(([, a], [, b]) => b.role - a.role)
    const copies = blocks.map(([block, placed]) =>
      this.#countsInRest(block, placed) ? undefined : block.slots.slice(),
    )
    for (const [, placed] of blocks) this.#giveBack(placed)
    for (const sheet of this.#named.values()) this.#giveBackAt(sheet)
    before.countUnplaced(-blocks.filter(([, { sheet }]) => sheet < 0).length)
    this.#sheets = sheets
    this.#thread = thread
    this.#named.clear()
    this.#blocks.clear()
    for (const [index, [block, { serial, role }]] of blocks.entries()) {
      const label = role === BlockRole.Rest ? '' : block.label
      const placed = this.#place(block.kind, block.layout, label, block.slots.length, role, serial)
      this.#blocks.set(block, placed)
      block.moveTo(placed)
      const counted = copies[index]
      // The block itself has brought its gauges.
      if (counted !== undefined) addTo(block.kind, placed.slots, withoutGauges(block.layout, counted))
    }
  }

  #countsInRest(block: Block, { sheet, role, slots }: Placed): boolean {
    if (sheet >= 0 || role === BlockRole.Rest) return false
    return this.#rests.get(keyOf(block.kind, block.layout))?.slots === slots
  }

  #open<B extends Block>(
    label: string,
    make: (label: string, place: BlockPlace) => B,
    kind: number,
    layout: CounterLayout,
  ): B {
    const short = shortLabel(label)
    const slots = kind === BlockKind.Histogram ? HISTOGRAM_SLOTS : layout.counters.length
    if (short !== '') this.#reserveRest(kind, layout, slots)
    const place = this.#place(kind, layout, short, slots, BlockRole.One, newSerial())
    const block = make(short, place)
    this.#blocks.set(block, place)
    return block
  }

  /** While there is room, so that things that come when there is none are counted where it can be seen. */
  #reserveRest(kind: number, layout: CounterLayout, slots: number): void {
    if (this.#rests.has(keyOf(kind, layout))) return
    this.#addRest(kind, layout, this.#place(kind, layout, '', slots, BlockRole.Rest, newSerial()))
  }

  #addRest(kind: number, layout: CounterLayout, place: Placed): void {
    const Kind = kind === BlockKind.Histogram ? HistogramBlock : CounterBlock
    const rest = new Kind(layout, '', place, this)
    this.#rests.set(keyOf(kind, layout), rest)
    this.#blocks.set(rest, place)
  }

  /** What `block` counted stays where it is, as the rest: there is none yet, or none that has a place. */
  #giveToRest({ kind, layout }: Block, placed: Placed): void {
    const place: Placed = { ...placed, role: BlockRole.Rest }
    const { slots, sheet, serial, role } = place
    for (const gauge of layout.gauges) slots[layout.counters.indexOf(gauge)] = 0
    this.#writeHeader(sheet, kind, layout, '', slots.length, role, serial)
    const rest = this.#rests.get(keyOf(kind, layout))
    if (rest === undefined) this.#addRest(kind, layout, place)
    else this.#showRest(rest, place)
  }

  /** A rest that had no place has this one now; what counts in it goes along. */
  #showRest(rest: Block, place: Placed): void {
    const hidden = rest.slots
    for (const [block, placed] of this.#blocks) {
      if (placed.slots !== hidden) continue
      const moved = block === rest ? place : { ...placed, slots: place.slots }
      this.#blocks.set(block, moved)
      block.moveTo(moved)
    }
    addTo(rest.kind, place.slots, hidden)
    this.#sheets.countUnplaced(-1)
  }

  #place(kind: number, layout: CounterLayout, label: string, length: number, role: number, serial: number): Placed {
    this.#name(layout)
    const sheet = this.#sheets.take(sheetsFor(length))
    if (sheet === undefined) {
      this.#sheets.countUnplaced(1)
      const slots = role === BlockRole.Rest ? undefined : this.#rests.get(keyOf(kind, layout))?.slots
      return { slots: slots ?? new Float64Array(length), shared: false, sheet: -1, serial, role }
    }
    const slots = slotsAt(this.#sheets.buffer, this.#sheets.at(sheet), length)
    slots.fill(0)
    this.#writeHeader(sheet, kind, layout, label, length, role, serial)
    return { slots, shared: true, sheet, serial, role }
  }

  #writeHeader(
    sheet: number,
    kind: number,
    layout: CounterLayout,
    label: string,
    slots: number,
    role: number,
    serial: number,
  ): void {
    const header = {
      kind,
      layout: layout.id,
      sheets: sheetsFor(slots),
      slots,
      thread: this.#thread,
      serial,
      role,
      label,
    }
    writeHeader(this.#sheets.buffer, this.#sheets.at(sheet), header)
  }

  /** What the layout's slots are called, for readers of other programs; once, as soon as there is room. */
  #name(layout: CounterLayout): void {
    if (this.#named.has(layout.id)) return
    const names = encodeNames(layout)
    const sheet = this.#sheets.take(sheetsFor(names.length))
    if (sheet === undefined) return
    this.#named.set(layout.id, sheet)
    slotsAt(this.#sheets.buffer, this.#sheets.at(sheet), names.length).set(names)
    this.#writeHeader(sheet, BlockKind.Names, layout, '', names.length, BlockRole.One, newSerial())
  }

  #giveBack({ sheet }: Placed): void {
    if (sheet >= 0) this.#giveBackAt(sheet)
  }

  #giveBackAt(sheet: number): void {
    const { buffer, count } = this.#sheets
    const at = this.#sheets.at(sheet)
    const header = readHeader(buffer, at, count - sheet)
    if (header === undefined) return
    eraseHeader(buffer, at)
    this.#sheets.giveBack(sheet, header.sheets)
  }
}

function keyOf(kind: number, layout: CounterLayout): string {
  return `${kind}/${layout.id}`
}

function fold(block: Block, rest: Block): void {
  addTo(block.kind, rest.slots, withoutGauges(block.layout, block.slots))
}

/** A copy of what may be added to the rest. */
function withoutGauges(layout: CounterLayout, slots: Float64Array): Float64Array {
  const copy = slots.slice()
  for (const gauge of layout.gauges) copy[layout.counters.indexOf(gauge)] = 0
  return copy
}

/** Add the figures of `from` to those of `to`. */
export function addTo(kind: number, to: Float64Array, from: Float64Array): void {
  if (kind === BlockKind.Histogram) addHistogram(to, from)
  else for (let slot = 0; slot < to.length; slot += 1) to[slot] = to[slot]! + (from[slot] ?? 0)
}

/** Tells blocks apart that were at one place after the other. */
function newSerial(): number {
  return Math.floor(Math.random() * 0x7fffffff) + 1
}

function checkLabel(label: string): void {
  if (typeof label !== 'string') throw mustBe('label', 'a string', label)
}

import { BlockKind, BlockRole, isStillThere, readHeader, slotsAt } from './block-header.ts'
import { differenceOfHistograms } from './histogram-block.ts'
import type { LayoutNames } from './layout-names.ts'
import type { Sheets } from './sheets.ts'

/** A copy of one block. */
export interface BlockCopy {
  readonly kind: number
  readonly names: LayoutNames
  readonly label: string
  readonly rest: boolean
  readonly thread: number
  readonly serial: number
  readonly slots: Float64Array
}

type RawCopy = Omit<BlockCopy, 'names'> & { readonly layout: number }

/** Copy all blocks from sheet `first` on. */
export function copyBlocks(sheets: Sheets, first: number): readonly RawCopy[] {
  const { buffer, count } = sheets
  const copies: RawCopy[] = []
  for (let sheet = first; sheet < count; ) {
    const at = sheets.at(sheet)
    const header = readHeader(buffer, at, count - sheet)
    sheet += Math.max(1, header?.sheets ?? 1)
    if (header === undefined) continue
    const { kind, layout, label, thread, serial } = header
    const slots = slotsAt(buffer, at, header.slots).slice()
    const copy = { kind, layout, label, thread, serial, rest: header.role === BlockRole.Rest, slots }
    // Its writer may have given the place back while it was copied.
    if (isStillThere(buffer, at, header)) copies.push(copy)
  }
  return copies
}

/** `later - earlier`. What goes up and down is not subtracted; `folded`: what ended took its gauges along. */
export function difference(later: BlockCopy, earlier: BlockCopy, folded = false): Float64Array {
  if (later.kind === BlockKind.Histogram) return differenceOfHistograms(later.slots, earlier.slots)
  const { counters, gauges } = later.names
  const isGauge = (slot: number) => gauges.includes(counters[slot] ?? '')
  return later.slots.map((value, slot) => (isGauge(slot) ? (folded ? 0 : value) : value - (earlier.slots[slot] ?? 0)))
}

export function isSame(block: BlockCopy, other: BlockCopy): boolean {
  return block.kind === other.kind && block.names.name === other.names.name && block.thread === other.thread
}

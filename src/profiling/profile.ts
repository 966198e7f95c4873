import { checkInstance, checkIterable, mustBe } from '../native/index.ts'
import { BlockKind, BlockRole, isStillThere, readHeader, slotsAt } from './block-header.ts'
import { findLayout } from './counter-layout.ts'
import { checkedFinding, type Finding, mergedFindings } from './finding.ts'
import { differenceOfHistograms, type HistogramSummary, summarize } from './histogram-block.ts'
import { decodeNames, type LayoutNames } from './layout-names.ts'
import { type ProfileJson, readJson, writeJson } from './profile-json.ts'
import { profileTable } from './profile-table.ts'
import { addTo, PROFILING_AREA_BYTES } from './profiling-area.ts'
import { firstSheet, Sheets, unplacedOf } from './sheets.ts'

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

/** Describes the block of a reading. */
export interface BlockReading {
  /** The layout's name; `unknown-<id>` if neither this program nor the area knows it. */
  readonly name: string
  /** Which of several objects it counts: a method, a queue pair. Empty if there is only one. */
  readonly label: string
  /** What the label is: `method`, `queuePair`. Empty if there are no labels. */
  readonly labelled: string
  /** If the counters are one figure: what their names tell apart (`code`). Otherwise empty. */
  readonly spread: string
  /** True for the sum over all objects of the layout that have ended or found no place. */
  readonly rest: boolean
  /** Thread id of the writer; -1 in a merged profile. */
  readonly thread: number
}

/** Counters of one block by name. */
export interface CounterReading extends BlockReading {
  /** The values that go up and down. */
  readonly gauges: readonly string[]
  readonly values: Readonly<Record<string, number>>
}

/** One histogram. */
export interface HistogramReading extends BlockReading, HistogramSummary {
  /** The slots, as in {@link HistogramBlock.slots}. */
  readonly slots: Float64Array
}

/** Of merged blocks: not one thread's. */
const MANY_THREADS = -1

/**
 * A snapshot of a profiling area, of this or another process. Its blocks are read one after the other while their
 * writers go on. So figures of different blocks may be a few operations apart.
 */
export class Profile {
  /**
   * How many blocks counted without a place when the snapshot was taken. Their figures are in the rest of their layout,
   * or missing if the layout has none.
   */
  readonly unplaced: number
  /** Results beyond figures; see {@link withFindings}. */
  readonly findings: readonly Finding[]
  readonly #blocks: readonly BlockCopy[]

  private constructor(blocks: readonly BlockCopy[], unplaced: number, findings: readonly Finding[] = []) {
    this.#blocks = blocks
    this.unplaced = unplaced
    this.findings = findings
  }

  /** Copy all blocks of the area. The contents are checked, and garbage is skipped. */
  static read(buffer: ArrayBufferLike, offsetBytes: number = 0, lengthBytes: number = PROFILING_AREA_BYTES): Profile {
    const sheets = new Sheets(buffer, offsetBytes, lengthBytes, 'reader')
    const copies = sheets.undisturbed(() => copyBlocks(sheets, firstSheet(lengthBytes)))
    const names = new Map<number, LayoutNames>()
    for (const { kind, layout, slots } of copies) {
      const found = kind === BlockKind.Names ? decodeNames(slots) : undefined
      if (found !== undefined) names.set(layout, found)
    }
    const blocks = copies
      .filter(({ kind }) => kind === BlockKind.Counters || kind === BlockKind.Histogram)
      .map(({ layout, ...copy }) => ({ ...copy, names: findLayout(layout) ?? names.get(layout) ?? unknown(layout) }))
    return new Profile(blocks, unplacedOf(buffer, offsetBytes))
  }

  /**
   * Add up snapshots of several threads, members or ranks. Figures of the same layout and label are summed, gauges too.
   * The last finding of each kind and subject stays.
   */
  static merge(profiles: Iterable<Profile>): Profile {
    const merged = new Map<string, BlockCopy>()
    let unplaced = 0
    const findings: Finding[] = []
    checkIterable('profiles', profiles, 'profiles')
    for (const profile of profiles) {
      checkInstance('profiles', profile, Profile, 'each, such as space.profile()')
      unplaced += profile.unplaced
      findings.push(...profile.findings)
      for (const block of profile.#blocks) {
        const { kind, names, label, rest, slots } = block
        // What has ended and had no label is no other thing than what goes on.
        const isOthers = rest && names.labelled !== ''
        const key = JSON.stringify([kind, names.name, names.counters, label, isOthers])
        const sum = merged.get(key)
        if (sum === undefined) merged.set(key, { ...block, rest: isOthers, thread: MANY_THREADS, slots: slots.slice() })
        else addTo(kind, sum.slots, slots)
      }
    }
    return new Profile([...merged.values()], unplaced, mergedFindings(findings))
  }

  /** Read the result of {@link toJSON}, also from another program. @throws ArgumentError for anything else. */
  static fromJSON(json: unknown): Profile {
    const { blocks, unplaced, findings } = readJson(json)
    return new Profile(blocks, unplaced, findings)
  }

  /**
   * Return the same figures with further findings: `adviceFinding(await region.advice())`. A later finding replaces an
   * earlier one of the same kind and subject. @throws ArgumentError
   */
  withFindings(findings: readonly Finding[]): Profile {
    if (!Array.isArray(findings)) throw mustBe('findings', 'an array of findings', findings)
    return new Profile(this.#blocks, this.unplaced, mergedFindings([...this.findings, ...findings.map(checkedFinding)]))
  }

  /**
   * Return what happened since `earlier`, a snapshot of the same area. New blocks count from zero; gauges and findings
   * are the present ones.
   */
  since(earlier: Profile): Profile {
    checkInstance('earlier', earlier, Profile, 'of the same area')
    const left = new Map(earlier.#blocks.map((block) => [block.serial, block]))
    const blocks = this.#blocks.map((block) => {
      const before = left.get(block.serial)
      if (before === undefined || before.names.name !== block.names.name)
        return { ...block, slots: block.slots.slice() }
      left.delete(block.serial)
      return { ...block, slots: difference(block, before) }
    })
    // Those that have ended since are in the rest, with all that they had counted before.
    for (const gone of left.values()) {
      const rest = blocks.find((block) => block.rest && isSame(block, gone))
      rest?.slots.set(difference(rest, gone, true))
    }
    return new Profile(blocks, this.unplaced, this.findings)
  }

  counters(): readonly CounterReading[] {
    return this.#of(BlockKind.Counters).map((block) => ({
      ...readingOf(block),
      gauges: block.names.gauges,
      values: valuesOf(block),
    }))
  }

  histograms(): readonly HistogramReading[] {
    return this.#of(BlockKind.Histogram).map((block) => ({
      ...readingOf(block),
      ...summarize(block.slots),
      slots: block.slots,
    }))
  }

  /** Return the sum of counter `counter` over all blocks of layout `layout`, 0 if there is none. */
  total(layout: string, counter: string): number {
    let sum = 0
    for (const { kind, names, slots } of this.#blocks)
      if (kind === BlockKind.Counters && names.name === layout) sum += slots[names.counters.indexOf(counter)] ?? 0
    return sum
  }

  /** Merge all histograms of layout `layout`; all zero if there is none. */
  histogram(layout: string): HistogramSummary {
    const all = this.#of(BlockKind.Histogram).filter(({ names }) => names.name === layout)
    const [first, ...others] = all.map(({ slots }) => slots)
    if (first === undefined) return summarize(new Float64Array(1))
    const sum = first.slice()
    for (const slots of others) addTo(BlockKind.Histogram, sum, slots)
    return summarize(sum)
  }

  /** Return a value for JSON.stringify; {@link fromJSON} reads it. */
  toJSON(): ProfileJson {
    return writeJson(this.#blocks, this.unplaced, this.findings)
  }

  /** Return a table for people: all figures that are not 0, and the findings. */
  toString(): string {
    return profileTable(this)
  }

  #of(kind: number): readonly BlockCopy[] {
    return this.#blocks.filter((block) => block.kind === kind)
  }
}

type RawCopy = Omit<BlockCopy, 'names'> & { readonly layout: number }

function copyBlocks(sheets: Sheets, first: number): readonly RawCopy[] {
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
function difference(later: BlockCopy, earlier: BlockCopy, folded = false): Float64Array {
  if (later.kind === BlockKind.Histogram) return differenceOfHistograms(later.slots, earlier.slots)
  const { counters, gauges } = later.names
  const isGauge = (slot: number) => gauges.includes(counters[slot] ?? '')
  return later.slots.map((value, slot) => (isGauge(slot) ? (folded ? 0 : value) : value - (earlier.slots[slot] ?? 0)))
}

function isSame(block: BlockCopy, other: BlockCopy): boolean {
  return block.kind === other.kind && block.names.name === other.names.name && block.thread === other.thread
}

function unknown(layout: number): LayoutNames {
  return { name: `unknown-${layout}`, counters: [], gauges: [], labelled: '', spread: '' }
}

function readingOf({ names, label, rest, thread }: BlockCopy): BlockReading {
  return { name: names.name, label, labelled: names.labelled, spread: names.spread, rest, thread }
}

function valuesOf({ names, slots }: BlockCopy): Record<string, number> {
  return Object.fromEntries([...slots].map((value, slot) => [names.counters[slot] ?? `slot${slot}`, value]))
}

import { checkInstance, checkIterable, mustBe } from '../native/index.ts'
import { type BlockCopy, copyBlocks, difference, isSame } from './block-copy.ts'
import { BlockKind } from './block-header.ts'
import { type CounterReading, type HistogramReading, readingOf, valuesOf } from './block-reading.ts'
import { findLayout } from './counter-layout.ts'
import { checkedFinding, type Finding, mergedFindings } from './finding.ts'
import { type HistogramSummary, summarize } from './histogram-block.ts'
import { decodeNames, type LayoutNames } from './layout-names.ts'
import { type ProfileJson, readJson, writeJson } from './profile-json.ts'
import { profileTable } from './profile-table.ts'
import { addTo, PROFILING_AREA_BYTES } from './profiling-area.ts'
import { firstSheet, Sheets, unplacedOf } from './sheets.ts'

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

function unknown(layout: number): LayoutNames {
  return { name: `unknown-${layout}`, counters: [], gauges: [], labelled: '', spread: '' }
}

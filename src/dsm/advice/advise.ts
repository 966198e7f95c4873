import type { PageAdvice, PageWriter, SharingKind } from './advice.ts'
import { findingOf, remedyFor } from './advice-text.ts'
import { ByteMap, type ByteRange } from './byte-map.ts'
import { decodeRecord, movesOf, type PageRecord } from './page-record.ts'

const LINE_BYTES = 64
const SMALL_PAGE_BYTES = 4096
/** Shorter gaps between bytes of one rank are most likely bytes whose values did not change. */
const GAP_BYTES = 16
/** A rank that was seen to change bytes less often may not have written all of what it writes. */
const CHANGES_MIN = 4

/** The properties of a region's pages. */
export interface AdvisedRegion {
  readonly name: string
  /** Lengths in bytes. */
  readonly size: number
  readonly pageSize: number
}

/**
 * The same for one page, from records as they were sent, which are checked; undefined if no rank saw it bounce. Pure.
 */
export function adviceOnPage(
  region: AdvisedRegion,
  page: number,
  sent: Iterable<readonly [rank: number, records: readonly unknown[]]>,
): PageAdvice | undefined {
  const said = [...sent].map(([rank, records]) => {
    const ofPage = records.filter((record) => Array.isArray(record) && record[0] === page)
    const sound = ofPage.map((record) => decodeRecord(record, region.pageSize))
    return [rank, sound.filter((record) => record !== undefined)] as const
  })
  return adviseOn(region, new Map(said))[0]
}

interface Part {
  readonly rank: number
  readonly record: PageRecord
}

/** What follows from the records of all ranks, the worst page first. Pure. */
export function adviseOn(region: AdvisedRegion, said: ReadonlyMap<number, readonly PageRecord[]>): PageAdvice[] {
  const parts = new Map<number, Part[]>()
  for (const [rank, records] of [...said].sort(([a], [b]) => a - b))
    for (const record of records) parts.set(record.page, [...(parts.get(record.page) ?? []), { rank, record }])
  const pages = [...parts].map(([page, ofPage]) => adviseOnPage(region, page, ofPage))
  return pages.sort((a, b) => b.moves - a.moves || a.index - b.index)
}

function adviseOnPage({ size, pageSize }: AdvisedRegion, index: number, parts: readonly Part[]): PageAdvice {
  const offsetBytes = index * pageSize
  const writing = parts.filter(({ record }) => !record.written.isEmpty)
  const others = parts.filter(({ record }) => record.written.isEmpty)
  const isReader = ({ record }: Part): boolean => record.writesLost + record.writesStopped === 0
  const maps = writing.map(({ record }) => record.written)
  const shared = overlapOf(pageSize, maps)
  const overlaps = shared.ranges()
  const facts = {
    index,
    offsetBytes,
    lengthBytes: Math.min(pageSize, size - offsetBytes),
    moves: parts.reduce((sum, { record }) => sum + movesOf(record), 0),
    writers: writing.map((part) => writerOf(part, maps)),
    seldom: writing.filter(({ record }) => record.changed < CHANGES_MIN).map(({ rank }) => rank),
    readers: others.filter(isReader).map(({ rank }) => rank),
    unseen: others.filter((part) => !isReader(part)).map(({ rank }) => rank),
    overlaps,
    grainBytes: pageSize / SMALL_PAGE_BYTES,
    sharesLine: overlaps.length === 0 && shareUnits(maps, LINE_BYTES),
    smallerPagesHelp: pageSize > SMALL_PAGE_BYTES && maps.length > 1 && !shareUnits(maps, SMALL_PAGE_BYTES),
  }
  const kind = kindOf(facts)
  const found = { ...facts, kind }
  return { ...found, finding: findingOf(found), remedy: remedyFor(found, pageSize) }
}

function kindOf({
  overlaps,
  writers,
  seldom,
  readers,
  unseen,
}: Pick<PageAdvice, 'overlaps' | 'writers' | 'seldom' | 'readers' | 'unseen'>): SharingKind {
  if (overlaps.length > 0) return 'true-sharing'
  // Two are enough: a third rank that wrote from time to time is not what makes the page bounce.
  if (writers.length - seldom.length > 1) return 'false-sharing'
  return writers.length === 1 && readers.length > 0 && unseen.length === 0 ? 'reader-writer' : 'unclear'
}

function writerOf({ rank, record }: Part, all: readonly ByteMap[]): PageWriter {
  const others = all.filter((map) => map !== record.written)
  return { rank, ranges: closed(record.written.ranges(), others), samples: record.samples }
}

/** Without the short gaps in which no other rank writes. */
function closed(ranges: readonly ByteRange[], others: readonly ByteMap[]): ByteRange[] {
  const merged: ByteRange[] = []
  for (const range of ranges) {
    const last = merged.at(-1)
    const isNear = last !== undefined && range.begin - last.end < GAP_BYTES
    if (isNear && !isWritten(last.end, range.begin, others)) merged[merged.length - 1] = { ...last, end: range.end }
    else merged.push(range)
  }
  return merged
}

function isWritten(begin: number, end: number, maps: readonly ByteMap[]): boolean {
  for (let byte = begin; byte < end; byte += 1) if (maps.some((map) => map.has(byte))) return true
  return false
}

function overlapOf(pageBytes: number, maps: readonly ByteMap[]): ByteMap {
  let seen = new ByteMap(pageBytes)
  let twice = new ByteMap(pageBytes)
  for (const map of maps) {
    twice = twice.or(seen.and(map))
    seen = seen.or(map)
  }
  return twice
}

/** Whether two maps have bytes in one unit of this many bytes. */
function shareUnits(maps: readonly ByteMap[], unitBytes: number): boolean {
  const taken = new Set<number>()
  return maps.some((map) => {
    const units = new Set(map.ranges().flatMap((range) => unitsOf(range, unitBytes)))
    const isShared = [...units].some((unit) => taken.has(unit))
    for (const unit of units) taken.add(unit)
    return isShared
  })
}

function unitsOf({ begin, end }: ByteRange, unitBytes: number): number[] {
  const first = Math.floor(begin / unitBytes)
  return Array.from({ length: Math.floor((end - 1) / unitBytes) - first + 1 }, (_, index) => first + index)
}

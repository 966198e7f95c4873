import { closeSync, readSync } from 'node:fs'
import {
  ADVICE_BYTES,
  blocksOf,
  CACHE_CELLS,
  DIRECTORY_CELLS,
  EVENT_BYTES,
  EVENTS_KEPT,
  EVENTS_OFFSET,
  EventByte,
  entriesOffset,
  HEAD_BYTES,
  HEADS_OFFSET,
  HeadByte,
  HeaderWord,
  JOURNAL_MAGIC,
  JOURNAL_VERSION,
  LINK_FLOATS,
  LINKS_MAX,
  LINKS_OFFSET,
  LinkFloat,
  mapBytes,
  NAME_BYTES_MAX,
  OPERATIONS_MAX,
  OPERATIONS_OFFSET,
  PAGE_ENTRY_BYTES,
  PAGES_PER_BLOCK,
  PageByte,
  PROTOCOL_BYTES_MAX,
  SHOWN_REGIONS_MAX,
  WAIT_PARTS,
  WAITS_OFFSET,
} from './journal-layout.ts'
import type { RegionFacts } from './region-sheet.ts'
import { readAdvice } from './shown-advice.ts'

/** What one rank has sent to another, and got from it, since its journal began. */
export interface JournalLink {
  readonly peer: number
  readonly messages: number
  readonly bytes: number
  readonly pages: number
  /** Pages that threads here waited for and that came from the peer. */
  readonly answers: number
  readonly answerNs: number
  readonly answerNsMax: number
}

/**
 * What one rank has counted about its peers, by operation, since its journal began. Which place is of which peer,
 * {@link countOf} and {@link waitsOf} say.
 */
export interface JournalOperations {
  readonly counts: Float64Array
  readonly waits: Uint32Array
}

/** How many messages of a kind went to `peer`, and how many bytes they had; kind 0: pages. */
export function countOf({ counts }: JournalOperations, peer: number, kind: number): readonly [number, number] {
  const at = (peer * OPERATIONS_MAX + kind) * 2
  return [counts[at] ?? 0, counts[at + 1] ?? 0]
}

/** How often each time was waited for pages that came from `peer`, to be written or read. */
export function waitsOf({ waits }: JournalOperations, peer: number, write: boolean): Uint32Array {
  const at = (peer * 2 + (write ? 1 : 0)) * WAIT_PARTS
  return waits.subarray(at, at + WAIT_PARTS)
}

/** A region as one rank shows it. */
export interface JournalRegion extends RegionFacts {
  /** Which head it has in this journal: of regions that ended, others have it again. */
  readonly index: number
  /** Which of its writer's regions it is: no other ever has this number. */
  readonly number: number
  readonly mapOffset: number
}

/** What one rank knows of a page: states by their numbers, `undefined` where it knows nothing. */
export interface JournalPage {
  readonly copy: number | undefined
  /** Undefined where the home is elsewhere. */
  readonly directory: number | undefined
  readonly owner: number | undefined
  readonly version: number
  readonly faults: number
  readonly losses: number
}

/** Something that happened at a rank. What it has not is -1. */
export interface ReadEvent {
  readonly rank: number
  /** {@link JournalRegion.number} */
  readonly region: number
  readonly timeNs: number
  readonly what: number
  readonly page: number
  readonly peer: number
  readonly before: number
  readonly after: number
  readonly requester: number
  readonly bytes: number
  readonly tookNs: number
}

/** The oldest records may be overwritten while they are read; this many are not even tried. */
const MARGIN = 1024

/**
 * The reading end of a journal. It reads by read(2) and maps nothing: reading a hole of a mapped memory object would
 * fill it with memory. Contents are checked, since any process of this user may have written them.
 */
export class JournalReader {
  readonly rank: number
  readonly ranks: number
  readonly #descriptor: number
  readonly #changes = new Map<number, Int32Array>()
  readonly #advice = new Map<number, readonly unknown[]>()
  #seen: number
  #open = true

  private constructor(descriptor: number, rank: number, ranks: number, seen: number) {
    this.#descriptor = descriptor
    this.rank = rank
    this.ranks = ranks
    this.#seen = seen
  }

  /**
   * Over an open descriptor, which it owns from then on; undefined (and closed) if that is not a journal of this
   * version. Events are read from the beginning of the journal. If the first of them may be overwritten, another
   * watcher has watched for long, and events are read from now on.
   */
  static over(descriptor: number): JournalReader | undefined {
    const header = new Int32Array(64)
    const length = readSync(descriptor, header, 0, 256, 0)
    const at = (word: number): number => header[word]!
    const rank = at(HeaderWord.Rank)
    const isOne =
      length === 256 &&
      at(HeaderWord.Magic) === JOURNAL_MAGIC &&
      at(HeaderWord.Version) === JOURNAL_VERSION &&
      rank >= 0 &&
      rank < at(HeaderWord.Ranks)
    const written = at(HeaderWord.Events) >>> 0
    const seen = written <= EVENTS_KEPT - MARGIN ? 0 : written
    if (isOne) return new JournalReader(descriptor, rank, at(HeaderWord.Ranks), seen)
    closeSync(descriptor)
    return undefined
  }

  /** True once its writer has thrown it away: nothing in it changes any more. */
  get isOver(): boolean {
    return new DataView(this.#bytes(4, 0).buffer).getInt32(0, true) !== JOURNAL_MAGIC
  }

  /** Every peer with which anything was exchanged. */
  links(): readonly JournalLink[] {
    const floats = new Float64Array(Math.min(this.ranks, LINKS_MAX) * LINK_FLOATS)
    this.#read(new Uint8Array(floats.buffer), LINKS_OFFSET)
    const links: JournalLink[] = []
    for (let peer = 0; peer * LINK_FLOATS < floats.length; peer += 1) {
      const at = (float: number): number => floats[peer * LINK_FLOATS + float]!
      const [messages, pages, answers] = [at(LinkFloat.Messages), at(LinkFloat.Pages), at(LinkFloat.Answers)]
      if (messages + pages + answers === 0) continue
      const [bytes, answerNs, answerNsMax] = [at(LinkFloat.Bytes), at(LinkFloat.AnswerNs), at(LinkFloat.AnswerNsMax)]
      links.push({ peer, messages, bytes, pages, answers, answerNs, answerNsMax })
    }
    return links
  }

  /** The same by operation. */
  operations(): JournalOperations {
    const peers = Math.min(this.ranks, LINKS_MAX)
    return {
      counts: new Float64Array(this.#bytes(peers * OPERATIONS_MAX * 16, OPERATIONS_OFFSET).buffer),
      waits: new Uint32Array(this.#bytes(peers * 2 * WAIT_PARTS * 4, WAITS_OFFSET).buffer),
    }
  }

  regions(): readonly JournalRegion[] {
    const regions: JournalRegion[] = []
    for (let index = 0; index < SHOWN_REGIONS_MAX; index += 1) {
      const at = HEADS_OFFSET + index * HEAD_BYTES
      const region = readHead(this.#bytes(512, at), index)
      // Another may have come there while it was read.
      if (region !== undefined && this.#uint32(at + HeadByte.Number) === region.number) regions.push(region)
    }
    const shown = new Set(regions.map(({ number }) => number))
    for (const known of [this.#changes, this.#advice])
      for (const number of known.keys()) if (!shown.has(number)) known.delete(number)
    return regions
  }

  /** How often each cell of the region's tables was taken: state times number of events plus event. */
  cells({ index }: JournalRegion): { readonly cache: Uint32Array; readonly directory: Uint32Array } {
    const head = HEADS_OFFSET + index * HEAD_BYTES
    return {
      cache: new Uint32Array(this.#bytes(4 * CACHE_CELLS, head + HeadByte.CacheCells).buffer),
      directory: new Uint32Array(this.#bytes(4 * DIRECTORY_CELLS, head + HeadByte.DirectoryCells).buffer),
    }
  }

  /**
   * Blocks of {@link PAGES_PER_BLOCK} pages that have changed since this was asked last; the first time, all of which
   * anything is known.
   */
  changedBlocks({ number, pages, mapOffset }: JournalRegion): readonly number[] {
    const now = new Int32Array(this.#bytes(4 * blocksOf(pages), mapOffset).buffer)
    const before = this.#changes.get(number)
    this.#changes.set(number, now)
    const changed: number[] = []
    for (let block = 0; block < now.length; block += 1) if (now[block] !== (before?.[block] ?? 0)) changed.push(block)
    return changed
  }

  /** Entries of a block, for {@link pageIn}. */
  block({ pages, mapOffset }: JournalRegion, block: number): DataView {
    const count = Math.min(PAGES_PER_BLOCK, pages - block * PAGES_PER_BLOCK)
    const at = mapOffset + entriesOffset(pages) + block * PAGES_PER_BLOCK * PAGE_ENTRY_BYTES
    return new DataView(this.#bytes(count * PAGE_ENTRY_BYTES, at).buffer)
  }

  /** What the rank knows of one page. */
  page(region: JournalRegion, page: number): JournalPage {
    const at = region.mapOffset + entriesOffset(region.pages) + page * PAGE_ENTRY_BYTES
    return pageIn(new DataView(this.#bytes(PAGE_ENTRY_BYTES, at).buffer), 0)
  }

  /** What the rank saw of pages that bounce: unchecked records. None if the region is open without `advise`. */
  advice({ number, pages, mapOffset }: JournalRegion): readonly unknown[] {
    const begin = mapOffset + mapBytes(pages) - ADVICE_BYTES
    const records = readAdvice((length, offset) => this.#bytes(length, begin + offset))
    if (records !== undefined) this.#advice.set(number, records)
    return this.#advice.get(number) ?? []
  }

  /**
   * Call `take` with what happened since this was asked last, in order. Returns how much of it was lost, because it was
   * asked too late.
   */
  events(take: (event: ReadEvent) => void): number {
    const written = this.#written()
    const behind = (written - this.#seen) >>> 0
    const count = Math.min(behind, EVENTS_KEPT - MARGIN)
    const first = (written - count) >>> 0
    const records = this.#records(first, count)
    // What was overwritten meanwhile may be anything.
    const overwritten = Math.max(0, ((this.#written() - first) >>> 0) - EVENTS_KEPT)
    for (let index = overwritten; index < count; index += 1) take(eventAt(records, index * EVENT_BYTES, this.rank))
    this.#seen = written
    return behind - count + Math.min(count, overwritten)
  }

  close(): void {
    if (this.#open) closeSync(this.#descriptor)
    this.#open = false
  }

  #written(): number {
    return this.#uint32(4 * HeaderWord.Events)
  }

  #uint32(offset: number): number {
    return new DataView(this.#bytes(4, offset).buffer).getUint32(0, true)
  }

  #records(first: number, count: number): DataView {
    const bytes = new Uint8Array(count * EVENT_BYTES)
    const begin = first % EVENTS_KEPT
    const untilEnd = Math.min(count, EVENTS_KEPT - begin)
    this.#read(bytes.subarray(0, untilEnd * EVENT_BYTES), EVENTS_OFFSET + begin * EVENT_BYTES)
    this.#read(bytes.subarray(untilEnd * EVENT_BYTES), EVENTS_OFFSET)
    return new DataView(bytes.buffer)
  }

  #bytes(length: number, offset: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length)
    this.#read(bytes, offset)
    return bytes
  }

  #read(bytes: Uint8Array, offset: number): void {
    if (bytes.length > 0) readSync(this.#descriptor, bytes, 0, bytes.length, offset)
  }
}

/** The entry at `at` of a block. */
export function pageIn(entries: DataView, at: number): JournalPage {
  const copy = entries.getUint8(at + PageByte.Copy)
  const directory = entries.getUint8(at + PageByte.Directory)
  const owner = entries.getUint16(at + PageByte.Owner, true)
  return {
    copy: copy === 0 ? undefined : copy - 1,
    directory: directory === 0 ? undefined : directory - 1,
    owner: owner === 0 ? undefined : owner - 1,
    version: entries.getUint32(at + PageByte.Version, true),
    faults: entries.getUint32(at + PageByte.Faults, true),
    losses: entries.getUint32(at + PageByte.Losses, true),
  }
}

/** Undefined where the head is free, or what it says makes no sense. */
function readHead(bytes: Uint8Array, index: number): JournalRegion | undefined {
  const head = new DataView(bytes.buffer)
  const number = head.getUint32(HeadByte.Number, true)
  if (number === 0) return undefined
  const text = (lengthByte: number, at: number, most: number): string =>
    Buffer.from(bytes.subarray(at, at + Math.min(most, Math.max(0, head.getInt32(lengthByte, true))))).toString()
  const region = {
    index,
    number,
    id: head.getInt32(HeadByte.Id, true),
    name: text(HeadByte.NameLength, HeadByte.Name, NAME_BYTES_MAX),
    protocol: text(HeadByte.ProtocolLength, HeadByte.Protocol, PROTOCOL_BYTES_MAX),
    pages: head.getFloat64(HeadByte.Pages, true),
    pageBytes: head.getFloat64(HeadByte.PageBytes, true),
    size: head.getFloat64(HeadByte.Size, true),
    mapOffset: head.getFloat64(HeadByte.Map, true),
  }
  const isSane = region.pages > 0 && region.pages < 2 ** 32 && region.pageBytes > 0 && region.mapOffset > 0
  return isSane ? region : undefined
}

function eventAt(records: DataView, at: number, rank: number): ReadEvent {
  return {
    rank,
    region: records.getUint32(at + EventByte.Region, true),
    timeNs: records.getFloat64(at + EventByte.Time, true),
    what: records.getUint8(at + EventByte.What),
    page: records.getUint32(at + EventByte.Page, true),
    peer: records.getUint16(at + EventByte.Peer, true) - 1,
    before: records.getUint8(at + EventByte.Before),
    after: records.getUint8(at + EventByte.After),
    requester: records.getUint16(at + EventByte.Requester, true) - 1,
    bytes: records.getUint32(at + EventByte.Bytes, true),
    tookNs: records.getUint32(at + EventByte.Took, true),
  }
}

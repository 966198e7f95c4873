import { native } from '../../native/index.ts'
import {
  CACHE_CELLS,
  DIRECTORY_CELLS,
  entriesOffset,
  HEAD_BYTES,
  HEADS_OFFSET,
  HeadByte,
  type JournalEvent,
  NAME_BYTES_MAX,
  PAGE_ENTRY_BYTES,
  PAGES_PER_BLOCK,
  PageByte,
  PROTOCOL_BYTES_MAX,
} from './journal-layout.ts'
import { writeAdvice } from './shown-advice.ts'

/** What a region is, for those who watch. */
export interface RegionFacts {
  readonly id: number
  readonly name: string
  /** Name of the protocol. */
  readonly protocol: string
  readonly pages: number
  readonly pageBytes: number
  /** In bytes. */
  readonly size: number
}

/** What an agent knows of a page, with states by their numbers + 1. */
export interface PageEntry {
  readonly copy: number
  /** 0 where the home is elsewhere. */
  readonly directory: number
  readonly owner: number
  readonly version: number
}

/** The journal that a sheet belongs to. */
interface SheetJournal {
  record(region: number, event: JournalEvent): void
  removeRegion(index: number, mapOffset: number, mapBytes: number): void
}

/** The part of a journal that is about one region. */
export class RegionSheet {
  readonly #journal: SheetJournal
  readonly #index: number
  readonly #number: number
  readonly #map: ArrayBuffer
  readonly #mapOffset: number
  readonly #changes: Int32Array
  readonly #entries: DataView
  readonly #shown: Uint32Array
  readonly #cacheCells: Uint32Array
  readonly #directoryCells: Uint32Array

  constructor(
    place: {
      readonly journal: SheetJournal
      readonly memory: ArrayBuffer
      readonly map: ArrayBuffer
      readonly mapOffset: number
      readonly index: number
      readonly number: number
    },
    facts: RegionFacts,
  ) {
    this.#journal = place.journal
    this.#index = place.index
    this.#number = place.number
    this.#map = place.map
    this.#mapOffset = place.mapOffset
    const entries = entriesOffset(facts.pages)
    this.#changes = new Int32Array(place.map, 0, entries / 4)
    this.#entries = new DataView(place.map, entries)
    const head = HEADS_OFFSET + place.index * HEAD_BYTES
    this.#shown = new Uint32Array(place.memory, head + HeadByte.Number, 1)
    this.#cacheCells = new Uint32Array(place.memory, head + HeadByte.CacheCells, CACHE_CELLS)
    this.#directoryCells = new Uint32Array(place.memory, head + HeadByte.DirectoryCells, DIRECTORY_CELLS)
    this.#cacheCells.fill(0)
    this.#directoryCells.fill(0)
    writeHead(new DataView(place.memory, head, HEAD_BYTES), facts, place.mapOffset)
    Atomics.store(this.#shown, 0, place.number)
  }

  record(event: JournalEvent): void {
    this.#journal.record(this.#number, event)
  }

  countCacheCell(cell: number): void {
    this.#cacheCells[cell]! += 1
  }

  countDirectoryCell(cell: number): void {
    this.#directoryCells[cell]! += 1
  }

  /** States of the page as they were written last, + 1: the copy's and, times 256, the directory's. */
  states(page: number): number {
    return this.#entries.getUint16(page * PAGE_ENTRY_BYTES + PageByte.Copy, true)
  }

  write(page: number, { copy, directory, owner, version }: PageEntry): void {
    const at = page * PAGE_ENTRY_BYTES
    const entries = this.#entries
    entries.setUint8(at + PageByte.Copy, copy)
    entries.setUint8(at + PageByte.Directory, directory)
    entries.setUint16(at + PageByte.Owner, owner + 1, true)
    entries.setUint32(at + PageByte.Version, version, true)
    this.#changed(page)
  }

  countFault(page: number): void {
    this.#count(page, PageByte.Faults)
  }

  countLoss(page: number): void {
    this.#count(page, PageByte.Losses)
  }

  /** What this rank saw of pages that bounce. */
  advise(records: readonly unknown[]): void {
    writeAdvice(this.#map, records)
  }

  /** The region is not served any more. Nothing may be written down after this. */
  end(): void {
    Atomics.store(this.#shown, 0, 0)
    const { byteLength } = this.#map
    native.unmapMemory(this.#map)
    this.#journal.removeRegion(this.#index, this.#mapOffset, byteLength)
  }

  #count(page: number, byte: number): void {
    const at = page * PAGE_ENTRY_BYTES + byte
    this.#entries.setUint32(at, this.#entries.getUint32(at, true) + 1, true)
    this.#changed(page)
  }

  #changed(page: number): void {
    Atomics.add(this.#changes, Math.floor(page / PAGES_PER_BLOCK), 1)
  }
}

function writeHead(head: DataView, facts: RegionFacts, mapOffset: number): void {
  head.setInt32(HeadByte.Id, facts.id, true)
  head.setFloat64(HeadByte.Pages, facts.pages, true)
  head.setFloat64(HeadByte.PageBytes, facts.pageBytes, true)
  head.setFloat64(HeadByte.Size, facts.size, true)
  head.setFloat64(HeadByte.Map, mapOffset, true)
  head.setInt32(HeadByte.NameLength, writeText(head, HeadByte.Name, NAME_BYTES_MAX, facts.name), true)
  const length = writeText(head, HeadByte.Protocol, PROTOCOL_BYTES_MAX, facts.protocol)
  head.setInt32(HeadByte.ProtocolLength, length, true)
}

function writeText(head: DataView, at: number, bytesMax: number, text: string): number {
  const bytes = Buffer.from(text).subarray(0, bytesMax)
  new Uint8Array(head.buffer, head.byteOffset + at, bytes.length).set(bytes)
  return bytes.length
}

import { randomInt } from 'node:crypto'
import { native } from '../../native/index.ts'
import {
  EVENT_BYTES,
  EVENTS_KEPT,
  EVENTS_OFFSET,
  EventByte,
  HeaderWord,
  JOURNAL_MAGIC,
  JOURNAL_VERSION,
  type JournalEvent,
  LINK_FLOATS,
  LINKS_MAX,
  LINKS_OFFSET,
  LinkFloat,
  MAPS_OFFSET,
  mapBytes,
  OPERATIONS_MAX,
  OPERATIONS_OFFSET,
  SHOWN_REGIONS_MAX,
  WAIT_PARTS,
  WAITS_OFFSET,
  waitPartOf,
} from './journal-layout.ts'
import { type RegionFacts, RegionSheet } from './region-sheet.ts'

const UINT32_MAX = 2 ** 32 - 1

/**
 * Regions are numbered on, in all journals of this agent, so that none is taken for another; and from anywhere, so that
 * neither are those of the next one that has the rank: where both begin at 1 its first region would be the first of the
 * one before.
 */
let regions = randomInt(2 ** 31)

/**
 * The writing end of a journal, in the agent. It is made when the first watcher comes, and dropped when the last one
 * goes.
 */
export class Journal {
  readonly descriptor: number
  readonly inode: number
  readonly #memory: ArrayBuffer
  readonly #header: Int32Array
  readonly #links: Float64Array
  readonly #operations: Float64Array
  readonly #waits: Uint32Array
  readonly #events: DataView
  /** By their heads. */
  readonly #sheets: (RegionSheet | undefined)[] = new Array<undefined>(SHOWN_REGIONS_MAX).fill(undefined)
  #end = MAPS_OFFSET
  #written = 0

  constructor(rank: number, ranks: number) {
    this.descriptor = native.createMemory('aether-journal', MAPS_OFFSET, 0)
    this.inode = native.describeMemory(this.descriptor).inode
    this.#memory = native.mapMemory(this.descriptor, 0, MAPS_OFFSET, 0)
    this.#header = new Int32Array(this.#memory, 0, 64)
    this.#links = new Float64Array(this.#memory, LINKS_OFFSET, LINKS_MAX * LINK_FLOATS)
    this.#operations = new Float64Array(this.#memory, OPERATIONS_OFFSET, LINKS_MAX * OPERATIONS_MAX * 2)
    this.#waits = new Uint32Array(this.#memory, WAITS_OFFSET, LINKS_MAX * 2 * WAIT_PARTS)
    this.#events = new DataView(this.#memory, EVENTS_OFFSET, EVENTS_KEPT * EVENT_BYTES)
    this.#header.set([JOURNAL_MAGIC, JOURNAL_VERSION, rank, ranks])
  }

  /** A place for a region; undefined while there are too many. */
  addRegion(facts: RegionFacts): RegionSheet | undefined {
    const index = this.#sheets.indexOf(undefined)
    if (index < 0) return undefined
    const offset = this.#end
    const length = mapBytes(facts.pages)
    this.#end += length
    native.resizeMemory(this.descriptor, this.#end)
    const map = native.mapMemory(this.descriptor, offset, length, 0)
    regions = (regions + 1) >>> 0
    const number = regions
    const sheet = new RegionSheet({ journal: this, memory: this.#memory, map, mapOffset: offset, index, number }, facts)
    this.#sheets[index] = sheet
    return sheet
  }

  /**
   * @internal {@link RegionSheet.end}: another region may reuse its head. The place of its map is not used again, and
   *   its memory is given back.
   */
  removeRegion(index: number, mapOffset: number, mapBytes: number): void {
    this.#sheets[index] = undefined
    native.releaseMemory(this.descriptor, mapOffset, mapBytes)
  }

  /** A message of that kind went to a peer; `kind` 0: the bytes of a page. */
  countSent(peer: number, bytes: number, kind: number): void {
    const links = this.#links
    const at = peer * LINK_FLOATS
    links[at + (kind === 0 ? LinkFloat.Pages : LinkFloat.Messages)]! += 1
    links[at + LinkFloat.Bytes]! += bytes
    const operations = this.#operations
    const operation = (peer * OPERATIONS_MAX + kind) * 2
    operations[operation]! += 1
    operations[operation + 1]! += bytes
  }

  /** A page that a thread here waited for came from a peer, with the right 1 to read or 2 to write. */
  countAnswer(peer: number, right: number, tookNs: number): void {
    const links = this.#links
    const at = peer * LINK_FLOATS
    links[at + LinkFloat.Answers]! += 1
    links[at + LinkFloat.AnswerNs]! += tookNs
    if (tookNs > links[at + LinkFloat.AnswerNsMax]!) links[at + LinkFloat.AnswerNsMax] = tookNs
    this.#waits[(peer * 2 + (right === 2 ? 1 : 0)) * WAIT_PARTS + waitPartOf(tookNs)]! += 1
  }

  record(region: number, event: JournalEvent): void {
    const events = this.#events
    const at = (this.#written % EVENTS_KEPT) * EVENT_BYTES
    events.setFloat64(at + EventByte.Time, native.monotonicNs(), true)
    events.setUint32(at + EventByte.Page, event.page, true)
    events.setUint8(at + EventByte.What, event.what)
    events.setUint32(at + EventByte.Region, region, true)
    events.setUint16(at + EventByte.Peer, (event.peer ?? -1) + 1, true)
    events.setUint8(at + EventByte.Before, event.before ?? 0)
    events.setUint8(at + EventByte.After, event.after ?? 0)
    events.setUint16(at + EventByte.Requester, (event.requester ?? -1) + 1, true)
    events.setUint32(at + EventByte.Bytes, event.bytes ?? 0, true)
    events.setUint32(at + EventByte.Took, Math.min(UINT32_MAX, event.tookNs ?? 0), true)
    this.#written = (this.#written + 1) >>> 0
    Atomics.store(this.#header, HeaderWord.Events, this.#written | 0)
  }

  /** Readers that still have it open are told that it is over. */
  close(): void {
    Atomics.store(this.#header, HeaderWord.Magic, 0)
    for (const sheet of this.#sheets) sheet?.end()
    native.unmapMemory(this.#memory)
    native.closeDescriptor(this.descriptor)
  }
}

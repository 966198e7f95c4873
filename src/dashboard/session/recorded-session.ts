import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { protocols } from '../../dsm/index.ts'
import { HISTORY_MAX } from '../page-description.ts'
import type { PageFrame, PartFrame, RecordingFrame, RegionFrame } from '../wire.ts'
import { isRecord } from './check-record.ts'
import { PageHistories } from './page-histories.ts'
import { damagedLook, describeRecordedPage, type PageAt, type PageLook, toldState } from './recorded-page.ts'
import { SessionFileError } from './session-error.ts'
import {
  PART_HEADER_BYTES,
  PART_LINES_MAX,
  PARTS_MAX,
  type PartHeader,
  readPartHeader,
  SESSION_FORMAT,
  SESSION_VERSIONS,
  type SessionHeader,
  type SessionRecord,
  unpackPart,
  WHOLE_APART_MAX,
} from './session-format.ts'

/** So many parts the history of a page goes back, and through so many bytes of their text. */
const HISTORY_PARTS = 120
const HISTORY_BYTES_MAX: number = 64 * 2 ** 20
/**
 * Unpacked parts that are kept, and bytes of their text: what histories go back, so that the next page finds it read,
 * and what the state of a page and who plays need.
 */
const KEPT_MAX: number = HISTORY_PARTS + 12
const KEPT_BYTES_MAX: number = 64 * 2 ** 20

interface Place extends PartHeader {
  readonly offset: number
}

interface KeptPart {
  readonly records: readonly SessionRecord[]
  readonly bytes: number
  readonly damage?: string
}

/**
 * A recording of the dashboard as `aether dashboard --replay` shows it. Only headers of parts are read when it is
 * opened; a part when it is asked for.
 */
export class RecordedSession {
  /** What it is, and how it ends. */
  readonly facts: RecordingFrame
  readonly path: string
  readonly #descriptor: number
  readonly #places: readonly Place[]
  readonly #kept = new Map<number, KeptPart>()
  readonly #histories = new PageHistories(HISTORY_PARTS)

  private constructor(path: string, descriptor: number, header: SessionHeader, found: FoundParts) {
    this.path = path
    this.#descriptor = descriptor
    this.#places = found.places
    this.facts = {
      name: basename(path),
      begunMs: header.begunMs,
      lengthMs: found.endMs,
      parts: found.places.map(({ atMs }) => atMs),
      whole: found.places.flatMap(({ isWhole }, number) => (isWhole ? [number] : [])),
      end: found.end,
    }
  }

  /**
   * @throws SessionFileError for what cannot be read, is no recording, is of another version, or has nothing to show.
   */
  static open(path: string): RecordedSession {
    const descriptor = openFile(path)
    try {
      const first = readPlace(descriptor, 0)
      const header = readHeader(path, descriptor, first)
      const found = findParts(descriptor, first!.bytes)
      if (found.places.length === 0) throw new SessionFileError('DAMAGED', path, whyNothing(found.end))
      return new RecordedSession(path, descriptor, header, found)
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

  /** A part for the page; undefined where there is none of that number. */
  part(number: number): PartFrame | undefined {
    const kept = this.#part(number)
    if (kept === undefined) return undefined
    const messages = kept.records.flatMap((record) => (record.event === 'events' ? [] : [record]))
    return { messages, ...(kept.damage !== undefined && { damage: kept.damage }) }
  }

  /** What the recording tells of a page at a time; undefined where it tells of no such page. */
  page(region: string, page: number, atMs: number): PageFrame | undefined {
    const last = this.#places.findLastIndex((place) => place.atMs <= atMs)
    const state = this.#stateOf(region, page, last, atMs)
    const protocol = state && protocols.get(state.coherence)
    if (state === undefined || protocol === undefined) return undefined
    return describeRecordedPage(state, protocol, this.#looksOf(region, page, last, atMs))
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #looksOf(region: string, page: number, last: number, atMs: number): readonly PageLook[] {
    const parts: (readonly PageLook[])[] = []
    let [number, count, bytes] = [last, 0, 0]
    const first = Math.max(0, last - HISTORY_PARTS + 1)
    for (; number >= first && count < HISTORY_MAX && bytes < HISTORY_BYTES_MAX; number -= 1) {
      const part = this.#histories.of(region, page, number, () => this.#part(number)!)
      const looks = part.looks.filter((look) => look.atMs <= atMs)
      // After the others of the part, also where only some of them are asked for: any of them may have followed what is
      // missing.
      parts.unshift(part.isDamaged ? [...looks, damagedLook(atMs)] : looks)
      count += looks.reduce((sum, { events }) => sum + events.length, 0)
      bytes += part.bytes
    }
    return parts.flat()
  }

  #stateOf(region: string, page: number, last: number, atMs: number): PageAt | undefined {
    let first = this.#wholeUntil(last)
    // Where what tells all anew is damaged, what was so before it is nearer to the truth than nothing.
    if (first > 0 && this.#part(first)?.damage !== undefined) first = this.#wholeUntil(first - 1)
    let found: RegionFrame | undefined
    let [state, isThere] = [0, false]
    for (let number = first; number <= last; number += 1)
      for (const record of this.#part(number)?.records ?? []) {
        if (record.atMs > atMs) break
        if (record.event === 'frame') found = record.data.regions.find(({ name }) => name === region)
        if (record.event !== 'pages' || record.data.region !== region) continue
        if (record.data.isNew) state = 0
        isThere = page < record.data.pages
        state = toldState(record.data, page) ?? state
      }
    if (!isThere || found === undefined) return undefined
    const { coherence, openAt } = found
    return { region, page, state, coherence, openAt }
  }

  /** The last part up to `last` that tells all anew. */
  #wholeUntil(last: number): number {
    let number = Math.max(0, last)
    while (number > 0 && this.#places[number]?.isWhole !== true) number -= 1
    return number
  }

  #part(number: number): KeptPart | undefined {
    const place = this.#places[number]
    if (place === undefined) return undefined
    const kept = this.#kept.get(number) ?? readPart(this.#descriptor, place)
    this.#kept.delete(number)
    this.#kept.set(number, kept)
    let bytes = [...this.#kept.values()].reduce((sum, each) => sum + each.bytes, 0)
    for (const [oldest, each] of this.#kept) {
      if (oldest === number || (this.#kept.size <= KEPT_MAX && bytes <= KEPT_BYTES_MAX)) break
      this.#kept.delete(oldest)
      bytes -= each.bytes
    }
    return kept
  }
}

interface FoundParts {
  readonly places: readonly Place[]
  readonly end: RecordingFrame['end']
  readonly endMs: number
}

function openFile(path: string): number {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, 'r')
    if (fstatSync(descriptor).isFile()) return descriptor
  } catch (cause) {
    throw new SessionFileError('IO', path, `cannot be read: ${(cause as Error).message}`, { cause })
  }
  closeSync(descriptor)
  throw new SessionFileError('FOREIGN', path, "is no file; name one that 'aether dashboard --record FILE' has written")
}

function bytesAt(descriptor: number, offset: number, most: number): Buffer {
  const bytes = Buffer.alloc(most)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, most, offset))
}

function readPlace(descriptor: number, offset: number): Place | undefined {
  const header = readPartHeader(bytesAt(descriptor, offset, PART_HEADER_BYTES))
  return header && { ...header, offset }
}

function readHeader(path: string, descriptor: number, place: Place | undefined): SessionHeader {
  const foreign = (options?: ErrorOptions): never => {
    const begin = bytesAt(descriptor, 0, 256).toString('latin1')
    const hint = begin.includes('aether-recording')
      ? "is what a member recorded; 'aether replay FILE' steps through it"
      : "is no recording of the dashboard; 'aether dashboard --record FILE' writes one"
    throw new SessionFileError('FOREIGN', path, hint, options)
  }
  if (fstatSync(descriptor).size === 0)
    throw new SessionFileError('DAMAGED', path, 'is empty: nothing was seen before its recorder ended; record again')
  if (place === undefined) return foreign()
  let header: Partial<SessionHeader> | null
  try {
    header = JSON.parse(unpackPart(bytesAt(descriptor, 0, Math.min(place.bytes, 65_536)))) as Partial<SessionHeader>
  } catch (cause) {
    throw new SessionFileError('DAMAGED', path, 'is damaged or cut off where it begins; nothing of it can be shown', {
      cause,
    })
  }
  if (header?.format !== SESSION_FORMAT) return foreign()
  const { version, begunMs, aether } = header
  if (version === undefined || !SESSION_VERSIONS.includes(version)) {
    const other =
      typeof aether === 'string' && /^[\w.+-]{1,40}$/.test(aether) ? `Aether ${aether}` : 'another version of Aether'
    const what = `was recorded by ${other} in format ${Number(version)}, and this one reads formats ${SESSION_VERSIONS.join(' and ')}`
    throw new SessionFileError('VERSION', path, `${what}: open it with that one`)
  }
  if (typeof begunMs !== 'number' || !Number.isFinite(begunMs) || Math.abs(begunMs) > 8.64e15)
    throw new SessionFileError('DAMAGED', path, 'its header does not say when it began; nothing of it can be shown')
  return header as SessionHeader
}

function findParts(descriptor: number, offset: number): FoundParts {
  const { size } = fstatSync(descriptor)
  const places: Place[] = []
  let [lastMs, whole] = [0, 0]
  for (let at = offset; at < size; ) {
    const isCut = size - at < PART_HEADER_BYTES
    const place = isCut ? undefined : readPlace(descriptor, at)
    if (isCut || (place !== undefined && at + place.bytes > size))
      return { places, end: 'cut', endMs: endOf(lastMs, places) }
    if (place === undefined || place.atMs < lastMs) return { places, end: 'damaged', endMs: endOf(lastMs, places) }
    lastMs = place.atMs
    if (place.isEnd) return { places, end: whyEnded(descriptor, place), endMs: lastMs }
    if (place.isWhole) whole = places.length
    if (places.length >= PARTS_MAX || places.length - whole >= WHOLE_APART_MAX)
      return { places, end: 'damaged', endMs: endOf(lastMs, places) }
    places.push(place)
    at += place.bytes
  }
  return { places, end: 'cut', endMs: endOf(lastMs, places) }
}

function whyNothing(end: RecordingFrame['end']): string {
  if (end === 'closed') return 'is whole, but its recorder was ended before it had seen anything: record again'
  if (end === 'limit') return 'has no room for what was seen first: record again with a larger --record-limit'
  return 'nothing was recorded before it was cut off: record again'
}

/** Nobody has said how long the last part is: as long as parts are. */
function endOf(lastMs: number, places: readonly Place[]): number {
  return places.length === 0 ? lastMs : lastMs + 1000
}

function whyEnded(descriptor: number, place: Place): RecordingFrame['end'] {
  try {
    const { end } = JSON.parse(unpackPart(bytesAt(descriptor, place.offset, place.bytes))) as { readonly end: unknown }
    return end === 'limit' || end === 'closed' ? end : 'damaged'
  } catch {
    return 'damaged'
  }
}

/** What is damaged is told, and shown as nothing: a line, where it is only one. */
function readPart(descriptor: number, { offset, bytes, atMs }: Place): KeptPart {
  const damage = `what was recorded ${(atMs / 1000).toFixed(1)} s after the beginning is damaged`
  let text: string
  try {
    text = unpackPart(bytesAt(descriptor, offset, bytes))
  } catch {
    return { records: [], bytes: 0, damage }
  }
  const records: SessionRecord[] = []
  let [lines, bad] = [0, 0]
  for (let at = 0; at < text.length && lines < PART_LINES_MAX; lines += 1) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    const record = recordOf(text.slice(at, end))
    if (record !== undefined) records.push(record)
    else bad += 1
    at = end + 1
    if (lines + 1 === PART_LINES_MAX && at < text.length) bad += 1
  }
  return { records, bytes: text.length, ...(bad > 0 && { damage }) }
}

function recordOf(line: string): SessionRecord | undefined {
  try {
    const value = JSON.parse(line) as unknown
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

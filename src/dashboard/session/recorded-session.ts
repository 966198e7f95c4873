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

/** How many parts the history of a page goes back, and how many bytes of their text. */
const HISTORY_PARTS = 120
const HISTORY_BYTES_MAX: number = 64 * 2 ** 20
/**
 * How many unpacked parts are kept, and bytes of their text. It is enough for the history of a page, so that the next
 * page needs no reading, and for the state of a page and the player.
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
 * A recording of the dashboard, for `aether dashboard --replay`. Opening it reads only the headers of parts. A part is
 * read when it is requested.
 */
export class RecordedSession {
  /** Its description, and how it ends. */
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
   * @throws SessionFileError if the file cannot be read, is not a recording, has another version, or has nothing to
   * show.
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

  /** A part for the page; undefined if there is no part with that number. */
  part(number: number): PartFrame | undefined {
    const kept = this.#part(number)
    if (kept === undefined) return undefined
    const messages = kept.records.flatMap((record) => (record.event === 'events' ? [] : [record]))
    return { messages, ...(kept.damage !== undefined && { damage: kept.damage }) }
  }

  /** A page at a time; undefined if the recording has no such page. */
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
      // The damage comes after all looks of the part, even if only some of them are requested, because any of them may
      // have come after the records that are missing.
      parts.unshift(part.isDamaged ? [...looks, damagedLook(atMs)] : looks)
      count += looks.reduce((sum, { events }) => sum + events.length, 0)
      bytes += part.bytes
    }
    return parts.flat()
  }

  #stateOf(region: string, page: number, last: number, atMs: number): PageAt | undefined {
    let first = this.#wholeUntil(last)
    // If a part with the full state is damaged, an older state is better than none.
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

  /** The last part up to `last` that has the full state. */
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
  throw new SessionFileError(
    'FOREIGN',
    path,
    "is not a file; name one that 'npx aether-dsm dashboard --record FILE' has written",
  )
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
      ? "was recorded by a member; 'npx aether-dsm replay FILE' steps through it"
      : "is not a recording of the dashboard; 'npx aether-dsm dashboard --record FILE' writes one"
    throw new SessionFileError('FOREIGN', path, hint, options)
  }
  if (fstatSync(descriptor).size === 0)
    throw new SessionFileError(
      'DAMAGED',
      path,
      'is empty, because its recorder ended before it had seen anything; record again',
    )
  if (place === undefined) return foreign()
  let header: Partial<SessionHeader> | null
  try {
    header = JSON.parse(unpackPart(bytesAt(descriptor, 0, Math.min(place.bytes, 65_536)))) as Partial<SessionHeader>
  } catch (cause) {
    throw new SessionFileError('DAMAGED', path, 'is damaged or cut off at its start, so nothing of it can be shown', {
      cause,
    })
  }
  if (header?.format !== SESSION_FORMAT) return foreign()
  const { version, begunMs, aether } = header
  if (version === undefined || !SESSION_VERSIONS.includes(version)) {
    const other =
      typeof aether === 'string' && /^[\w.+-]{1,40}$/.test(aether) ? `Aether ${aether}` : 'another version of Aether'
    const what = `was recorded by ${other} in format ${Number(version)}, but this version reads formats ${SESSION_VERSIONS.join(', ')}`
    throw new SessionFileError('VERSION', path, `${what}: open it with the version that recorded it`)
  }
  if (typeof begunMs !== 'number' || !Number.isFinite(begunMs) || Math.abs(begunMs) > 8.64e15)
    throw new SessionFileError('DAMAGED', path, 'has no start time in its header, so nothing of it can be shown')
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
  if (end === 'closed') return 'is complete, but its recorder ended before it had seen anything: record again'
  if (end === 'limit')
    return 'reached its limit before the first look was written: record again with a larger --record-limit'
  return 'was cut off before anything was recorded: record again'
}

/** The length of the last part is not recorded, so the usual length is assumed. */
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

/** Reads a part. If it is damaged, it has no records; if only a line is, that line is left out. Both are reported. */
function readPart(descriptor: number, { offset, bytes, atMs }: Place): KeptPart {
  const damage = `the recording is damaged ${(atMs / 1000).toFixed(1)} s after its start`
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

import { closeSync, openSync, writeSync } from 'node:fs'
import type { ReadEvent } from '../../dsm/index.ts'
import type { EventsSince } from '../observed-space.ts'
import { type PageSource, Telling } from '../telling.ts'
import type { Frame, LogFrame, PagesFrame, RegionFrame } from '../wire.ts'
import { isRecord, RECORDED_PAGES_MAX, RECORDED_TEXT_MAX } from './check-record.ts'
import { SessionFileError } from './session-error.ts'
import {
  PART_LINES_MAX,
  PART_TEXT_BYTES_MAX,
  PARTS_MAX,
  packPart,
  SESSION_FORMAT,
  SESSION_VERSION,
  type SessionHeader,
  type SessionRecord,
} from './session-format.ts'

/** The interval of parts. If the recorder is killed, at most this much is lost. */
const PART_MS = 1000
/** One part in ten has the full state. A reader has to go back at most that far. */
const WHOLE_EVERY = 10
/** The maximum number of events recorded for one look. */
const EVENTS_A_LOOK_MAX = 2000
const LOG_LINES_MAX = 500
/** The maximum number of blocks of pages in one line. */
const BLOCKS_A_LINE_MAX = 4096
/** Reserved for the last part, which says how the recording ended. */
const END_BYTES = 256
export const RECORD_BYTES_MIN = 4096

/** What a recorder reads besides looks. */
interface RecordedSource extends PageSource {
  takeEvents?(most: number): EventsSince | undefined
}

export interface RecorderOptions {
  /** A file that must not exist. */
  readonly path: string
  /** The maximum size of the file, in bytes. */
  readonly limitBytes: number
  readonly source: RecordedSource
  /** Version of this package. */
  readonly aether: string
  /**
   * The clock of the looks, in milliseconds. It must be monotonic, unlike the wall clock. Default `performance.now()`.
   */
  readonly clock?: () => number
  /** Called once if the recording ends before {@link SessionRecorder.close} is called. */
  readonly onEnd?: (why: string) => void
}

/**
 * Records what a page would be sent at each look, for {@link RecordedSession} to show later. The file is valid whenever
 * the process ends, because parts are only appended, each by one write.
 */
export class SessionRecorder {
  readonly #options: RecorderOptions
  readonly #clock: () => number
  readonly #telling = new Telling()
  readonly #log: LogFrame[] = []
  #descriptor: number | undefined
  #bytes = 0
  #logged = 0
  #begunMs = 0
  /** By the recorder's clock. */
  #beganAt = 0
  #lastMs = 0
  #partMs = 0
  #parts = 0
  #isWhole = true
  #sinceWhole = WHOLE_EVERY
  #lines: string[] = []
  #textBytes = 0
  readonly #leftOut = new Set<string>()

  /** @throws SessionFileError if the file exists or cannot be created. */
  constructor(options: RecorderOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#descriptor = create(options.path)
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#bytes
  }

  /** Record a look. */
  look(frame: Frame): void {
    if (this.#descriptor === undefined) return
    if (this.#parts === 0 && this.#bytes === 0) this.#begin(frame.atMs)
    const atMs = Math.round(this.#clock() - this.#beganAt)
    this.#lastMs = atMs
    if (this.#lines.length > 0 && atMs - this.#partMs >= PART_MS) this.#flush()
    if (this.#descriptor === undefined) return
    if (this.#lines.length === 0) {
      this.#partMs = atMs
      this.#isWhole = this.#sinceWhole >= WHOLE_EVERY
      if (this.#isWhole) this.#telling.begin()
    }
    this.#take(frame, atMs)
  }

  /** Write the rest and the end. It may be called twice. */
  close(): void {
    if (this.#descriptor === undefined) return
    if (this.#bytes === 0) this.#begin(Date.now())
    if (this.#lines.length > 0) this.#flush()
    if (this.#descriptor !== undefined) this.#end('closed')
  }

  #begin(begunMs: number): void {
    this.#begunMs = begunMs
    this.#beganAt = this.#clock()
    const header: SessionHeader = {
      format: SESSION_FORMAT,
      version: SESSION_VERSION,
      aether: this.#options.aether,
      begunMs,
    }
    this.#write(packPart(`${JSON.stringify(header)}\n`, { isWhole: false, isEnd: false, atMs: 0 }))
  }

  #take(frame: Frame, atMs: number): void {
    const { source } = this.#options
    for (const line of frame.log) this.#note({ ...line, text: line.text.slice(0, RECORDED_TEXT_MAX) })
    const regions = this.#recordable(frame)
    const names = regions.filter(({ hasPages }) => hasPages).map(({ name }) => name)
    for (const message of this.#telling.next({ ...frame, regions }, this.#log, this.#logged, names, source))
      if (message.event === 'pages') this.#sayPages(atMs, message.data)
      else this.#say({ atMs, ...message })
    const since = source.takeEvents?.(EVENTS_A_LOOK_MAX)
    let left = since?.left ?? 0
    for (const [region, events] of since?.byRegion ?? []) {
      if (!names.includes(region)) continue
      this.#say({ atMs, event: 'events', data: { region, left, ...inNumbers(events) } })
      left = 0
    }
  }

  /** The regions of a look. Once their pages together exceed what a reader accepts, regions lose their pages. */
  #recordable({ regions, atMs }: Frame): readonly RegionFrame[] {
    let pages = 0
    return regions.map((region) => {
      if (!region.hasPages) return region
      if (pages + region.pages <= RECORDED_PAGES_MAX) {
        pages += region.pages
        return region
      }
      this.#leaveOut(`region '${region.name}'`, `it has ${region.pages} pages`, atMs)
      return { ...region, hasPages: false }
    })
  }

  #note(line: LogFrame): void {
    this.#log.push(line)
    this.#logged += 1
    if (this.#log.length > LOG_LINES_MAX) this.#log.shift()
  }

  #leaveOut(what: string, why: string, atMs: number): void {
    if (this.#leftOut.has(what)) return
    this.#leftOut.add(what)
    const text = `${what} is left out of the recording: ${why}, which is too much for a recording`
    this.#note({ atMs, kind: 'note', text: text.slice(0, RECORDED_TEXT_MAX) })
  }

  #sayPages(atMs: number, data: PagesFrame): void {
    let { isNew } = data
    for (let first = 0; isNew || first < data.blocks.length; first += BLOCKS_A_LINE_MAX) {
      const blocks = data.blocks.slice(first, first + BLOCKS_A_LINE_MAX)
      this.#say({ atMs, event: 'pages', data: { ...data, isNew, blocks } })
      isNew = false
    }
  }

  /** A line that a reader would refuse is left out, so that it does not spoil the rest. */
  #say(record: SessionRecord): void {
    const line = JSON.stringify(record)
    const bytes = Buffer.byteLength(line) + 1
    if (bytes > PART_TEXT_BYTES_MAX || !isRecord(record)) {
      this.#leaveOut(`what was seen of '${record.event}'`, `a line of ${bytes} bytes`, this.#begunMs + record.atMs)
      return
    }
    if (this.#lines.length >= PART_LINES_MAX || this.#textBytes + bytes > PART_TEXT_BYTES_MAX) {
      this.#flush()
      this.#partMs = record.atMs
      this.#isWhole = false
    }
    this.#lines.push(line)
    this.#textBytes += bytes
  }

  #flush(): void {
    const part = packPart(`${this.#lines.join('\n')}\n`, { isWhole: this.#isWhole, isEnd: false, atMs: this.#partMs })
    this.#lines = []
    this.#textBytes = 0
    this.#sinceWhole = this.#isWhole ? 1 : this.#sinceWhole + 1
    if (this.#parts++ >= PARTS_MAX) this.#stop('limit', `the recording has reached ${PARTS_MAX} parts`)
    else if (this.#bytes + part.length + END_BYTES <= this.#options.limitBytes) this.#write(part)
    else this.#stop('limit', `the recording has reached its limit of ${this.#options.limitBytes} bytes`)
  }

  #end(why: 'closed' | 'limit'): void {
    const record = { end: why, atMs: this.#lastMs, parts: this.#parts }
    this.#write(packPart(`${JSON.stringify(record)}\n`, { isWhole: false, isEnd: true, atMs: this.#lastMs }))
    this.#shut('the end of the recording may not have been written')
  }

  #stop(why: 'limit', said: string): void {
    this.#lastMs = this.#partMs
    this.#end(why)
    this.#tellEnd(said)
  }

  /** If the disk is full, only the recording ends. */
  #write(part: Buffer): void {
    if (this.#descriptor === undefined) return
    try {
      for (let at = 0; at < part.length; ) at += writeSync(this.#descriptor, part, at)
      this.#bytes += part.length
    } catch (error) {
      this.#shut()
      this.#tellEnd(`the recording cannot be written: ${(error as Error).message}`)
    }
  }

  /**
   * Close the file. Some file systems report only then that there was no room, or that a disk failed. If there was no
   * error before, `otherwise` says what that means.
   */
  #shut(otherwise?: string): void {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    if (descriptor === undefined) return
    try {
      closeSync(descriptor)
    } catch (error) {
      if (otherwise !== undefined) this.#tellEnd(`${otherwise}: ${(error as Error).message}`)
    }
  }

  #tellEnd(why: string): void {
    this.#options.onEnd?.(`${why}; everything before that is in ${this.#options.path}`)
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new SessionFileError('EXISTS', path, 'already exists; remove it, or record to another file', { cause })
    throw new SessionFileError('IO', path, `cannot be written: ${message}`, { cause })
  }
}

function inNumbers(events: readonly ReadEvent[]): { readonly beginNs: number; readonly events: readonly number[] } {
  const beginNs = events[0]?.timeNs ?? 0
  return {
    beginNs,
    events: events.flatMap(({ rank, timeNs, what, page, peer, before, after, bytes, tookNs }) => [
      rank,
      timeNs - beginNs,
      what,
      page,
      peer,
      before,
      after,
      bytes,
      tookNs,
    ]),
  }
}

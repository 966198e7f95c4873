import { closeSync, openSync, writeSync } from 'node:fs'
import type { ReadEvent } from '../../dsm/index.ts'
import type { EventsSince } from '../observed-space.ts'
import { type PageSource, Telling } from '../telling.ts'
import type { Frame, LogFrame } from '../wire.ts'
import { SessionFileError } from './session-error.ts'
import { packPart, SESSION_FORMAT, SESSION_VERSION, type SessionHeader, type SessionRecord } from './session-format.ts'

/** A part is written so often: that much is lost at most when the recorder is killed. */
const PART_MS = 1000
/** Every so many parts all is told anew: so far back a reader has to go at most to know a moment. */
const WHOLE_EVERY = 10
/** Events of pages that are recorded of one look. */
export const EVENTS_A_LOOK_MAX = 2000
const LOG_LINES_MAX = 500
/** Kept free for the part that says how the recording ended. */
const END_BYTES = 256
export const RECORD_BYTES_MIN = 4096

/** Where a recorder gets what is not in a look. */
export interface RecordedSource extends PageSource {
  takeEvents?(most: number): EventsSince | undefined
}

export interface RecorderOptions {
  /** A file that is not there yet. */
  readonly path: string
  /** The most bytes that the file may get. */
  readonly limitBytes: number
  readonly source: RecordedSource
  /** Version of this package. */
  readonly aether: string
  /** Told once, when nothing more is recorded, though {@link SessionRecorder.close} was not called. */
  readonly onEnd?: (why: string) => void
}

/**
 * Writes down what a page would be told of each look, for {@link RecordedSession} to show it later. What has been written is whole whenever the process ends:
 * parts are only ever appended, each by one write.
 */
export class SessionRecorder {
  readonly #options: RecorderOptions
  readonly #telling = new Telling()
  readonly #log: LogFrame[] = []
  #descriptor: number | undefined
  #bytes = 0
  #logged = 0
  #begunMs = 0
  #lastMs = 0
  #partMs = 0
  #parts = 0
  #isWhole = true
  #lines: string[] = []

  /** @throws SessionFileError where the file is there already, or cannot be made. */
  constructor(options: RecorderOptions) {
    this.#options = options
    this.#descriptor = create(options.path)
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#bytes
  }

  /** Take down a look. */
  look(frame: Frame): void {
    if (this.#descriptor === undefined) return
    if (this.#parts === 0 && this.#bytes === 0) this.#begin(frame.atMs)
    // The clock of the machine may be set back meanwhile; the recording goes on.
    const atMs = Math.max(this.#lastMs, frame.atMs - this.#begunMs)
    this.#lastMs = atMs
    if (this.#lines.length > 0 && atMs - this.#partMs >= PART_MS) this.#flush()
    if (this.#descriptor === undefined) return
    if (this.#lines.length === 0) {
      this.#partMs = atMs
      this.#isWhole = this.#parts % WHOLE_EVERY === 0
      if (this.#isWhole) this.#telling.begin()
    }
    this.#take(frame, atMs)
  }

  /** Write what is left, and that this is the end. It may be called twice. */
  close(): void {
    if (this.#descriptor === undefined) return
    if (this.#bytes === 0) this.#begin(Date.now())
    if (this.#lines.length > 0) this.#flush()
    if (this.#descriptor !== undefined) this.#end('closed')
  }

  #begin(begunMs: number): void {
    this.#begunMs = begunMs
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
    this.#log.push(...frame.log)
    this.#logged += frame.log.length
    this.#log.splice(0, Math.max(0, this.#log.length - LOG_LINES_MAX))
    const regions = frame.regions.filter(({ hasPages }) => hasPages).map(({ name }) => name)
    for (const message of this.#telling.next(frame, this.#log, this.#logged, regions, source))
      this.#say({ atMs, ...message })
    const since = source.takeEvents?.(EVENTS_A_LOOK_MAX)
    let left = since?.left ?? 0
    for (const [region, events] of since?.byRegion ?? []) {
      this.#say({ atMs, event: 'events', data: { region, left, ...inNumbers(events) } })
      left = 0
    }
  }

  #say(record: SessionRecord): void {
    this.#lines.push(JSON.stringify(record))
  }

  #flush(): void {
    const part = packPart(`${this.#lines.join('\n')}\n`, { isWhole: this.#isWhole, isEnd: false, atMs: this.#partMs })
    this.#lines = []
    this.#parts++
    if (this.#bytes + part.length + END_BYTES <= this.#options.limitBytes) this.#write(part)
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

  /** A disk that is full ends the recording, and nothing else. */
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

  /** Some file systems tell only here that there was no room, or that a disk failed; where nothing went wrong before, `otherwise` says what that means. */
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
    this.#options.onEnd?.(`${why}; what came before is in ${this.#options.path}`)
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new SessionFileError('EXISTS', path, 'is there already; remove it, or record into another file', { cause })
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

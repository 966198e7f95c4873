import { closeSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { threadId } from 'node:worker_threads'
import { printError } from '../print-error.ts'
import { laneLine, microseconds, THREAD_LINE, type TraceEvent, traceArguments } from './trace-event.ts'
import { type TraceIdentity, traceIdentity } from './trace-identity.ts'
import { TraceLanes } from './trace-lanes.ts'
import type { TraceMessage, TraceSlice } from './trace-message.ts'

/** The most that stays unwritten, and for how long while events come. */
const BUFFER_BYTES = 32_768
const BUFFER_NS = 20e6
/** Where there are no more events, an event loop writes the rest after this. */
const IDLE_MS = 50
/** The first line has this length, so that it can be written again in place. */
export const HEAD_BYTES = 128
/** Told in the head. */
export const PART_VERSION = 2

/** The contents of the first line of a part. */
export interface PartHead {
  readonly processId: number
  /** Events that are missing because there was no room for them. */
  readonly dropped: number
  /** Starts of slices that are missing: too much of the thread was under way to draw another. */
  readonly crowded: number
}

/** The file name of a thread's part. */
const partName = (file: string, processId: number, thread: number): string => `${file}.${processId}.${thread}.part`

/** The first line of a part. */
function partHead(head: PartHead): string {
  return `${JSON.stringify({ aetherTracePart: PART_VERSION, ...head }).padEnd(HEAD_BYTES - 1)}\n`
}

/**
 * One thread's part of a trace file: a head, then one event of the Trace Event Format in each line. It is written as
 * events come, so the part of a thread that was killed lacks only its last moments. A truncated line is not taken into
 * the file. Beyond `bytesMax` events are counted, not written.
 */
export class TracePart {
  readonly #file: string
  readonly #bytesMax: number
  readonly #lanes = new TraceLanes()
  #descriptor: number | undefined
  #buffer = ''
  #flushedNs = 0
  #bytes = HEAD_BYTES
  #dropped = 0
  #crowded = 0
  /** How many of both the head says. */
  #missingSaid = 0
  #timer: NodeJS.Timeout | undefined
  #known: TraceIdentity | undefined
  #failed = false

  constructor(file: string, bytesMax: number) {
    this.#file = file
    this.#bytesMax = bytesMax
  }

  /** Add an event. Never throws: a full disk must not make a program fail. */
  take(message: TraceMessage): void {
    if (this.#failed) return
    this.#introduce(message.rank)
    const { slice } = message
    // An end whose beginning is not there is told as what happened then.
    const event = slice === undefined || slice.phase === 'end' ? momentOf(message) : this.#sliceOf(message, slice)
    if (event !== undefined) this.#add(event, false)
    this.#flushInTime(message.timeNs)
  }

  /**
   * Draw the end of a slice whose start was drawn. Returns false if the message is not an end, or not of such a slice.
   * Works beyond the limit, too: these ends are few.
   */
  takeEnd(message: TraceMessage): boolean {
    const { slice, timeNs } = message
    if (slice?.phase !== 'end') return false
    const lane = this.#lanes.end(slice.track, slice.id)
    if (lane === undefined) return false
    if (this.#failed) return true
    const { pid } = process
    this.#add({ ph: 'E', ts: microseconds(timeNs), pid, tid: laneLine(lane), args: traceArguments(message) }, true)
    this.#flushInTime(timeNs)
    return true
  }

  /** Hand the buffered text to the kernel: it then outlives the process. */
  flush(): void {
    if (this.#failed) return
    try {
      this.#write()
    } catch (error) {
      this.#failed = true
      this.#buffer = ''
      printError(`aether: ${this.#file}: the trace of this thread ends here: ${(error as Error).message}\n`)
    }
  }

  close(): void {
    this.flush()
    clearTimeout(this.#timer)
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    this.#failed = true
  }

  /** Say who this is, before its first event and when it has become a rank. */
  #introduce(rank: number | undefined): void {
    const identity = traceIdentity()
    if (this.#known?.rank === rank && this.#known?.threadName === identity.threadName) return
    this.#known = { ...identity, rank }
    if (rank !== undefined) {
      this.#name('process_name', THREAD_LINE, { name: `rank ${rank}` })
      this.#name('process_sort_index', THREAD_LINE, { sort_index: rank })
    }
    this.#name('thread_name', THREAD_LINE, { name: identity.threadName })
    this.#name('thread_sort_index', THREAD_LINE, { sort_index: threadId })
  }

  #name(name: string, tid: number, args: Readonly<Record<string, number | string>>): void {
    this.#add({ name, ph: 'M', pid: process.pid, tid, args }, true)
  }

  #sliceOf(message: TraceMessage, slice: Exclude<TraceSlice, { phase: 'end' }>): TraceEvent | undefined {
    if (slice.phase === 'start') return undefined
    const pid = process.pid
    const at = microseconds(message.timeNs)
    const args = traceArguments(message)
    const { name, flow } = slice
    const cat = message.channel
    if (flow !== undefined) args['flow'] = flow
    if (slice.phase === 'step') {
      const ts = microseconds(slice.sinceNs)
      return {
        name,
        cat,
        ph: 'X',
        ts,
        dur: microseconds(message.timeNs - slice.sinceNs),
        pid,
        tid: THREAD_LINE,
        args,
      }
    }
    if (this.#bytes >= this.#bytesMax) {
      this.#dropped += 1
      return undefined
    }
    const lane = this.#lanes.begin(slice.track, slice.id)
    if (lane === undefined) {
      this.#crowded += 1
      return undefined
    }
    const tid = laneLine(lane.number)
    if (lane.isNew) {
      this.#name('thread_name', tid, { name: lane.name })
      this.#name('thread_sort_index', tid, { sort_index: 1000 + lane.number })
    }
    if (slice.answers !== undefined) args['answers'] = slice.answers
    return { name, cat, ph: 'B', ts: at, pid, tid, args }
  }

  /** `always`: also beyond the limit. */
  #add(event: TraceEvent, always: boolean): void {
    if (this.#bytes >= this.#bytesMax && !always) {
      this.#dropped += 1
      return
    }
    const line = `${JSON.stringify(event)}\n`
    this.#buffer += line
    this.#bytes += line.length
    if (this.#buffer.length >= BUFFER_BYTES) this.flush()
  }

  #flushInTime(nowNs: number): void {
    if (nowNs - this.#flushedNs > BUFFER_NS) {
      this.#flushedNs = nowNs
      this.flush()
    } else this.#flushSoon()
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.flush()
    }, IDLE_MS).unref()
  }

  #write(): void {
    if (this.#descriptor === undefined) {
      if (this.#buffer === '') return
      this.#descriptor = openSync(partName(this.#file, process.pid, threadId), 'w', 0o600)
      writeSync(this.#descriptor, this.#head(0, 0))
    }
    const bytes = Buffer.from(this.#buffer)
    this.#buffer = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at)
    const missing = this.#dropped + this.#crowded
    if (missing === this.#missingSaid) return
    this.#missingSaid = missing
    writeSync(this.#descriptor, this.#head(this.#dropped, this.#crowded), 0)
  }

  #head(dropped: number, crowded: number): string {
    return partHead({ processId: process.pid, dropped, crowded })
  }
}

function momentOf(message: TraceMessage): TraceEvent {
  return {
    name: message.type,
    cat: message.channel,
    ph: 'i',
    ts: microseconds(message.timeNs),
    pid: process.pid,
    tid: THREAD_LINE,
    s: 't',
    args: traceArguments(message),
  }
}

import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import type { TraceEvent } from './trace-event.ts'
import { wholeLines } from './trace-reading.ts'

/** The contents of a trace file. */
export interface TraceSummary {
  readonly processes: readonly string[]
  readonly events: number
  readonly flows: number
  /** Slices with a start and no end, of processes that were killed. */
  readonly unfinished: number
  readonly dropped: number
  /** Slices that are missing because too much of their thread was under way. */
  readonly crowded: number
  /** Violations of the format, in words; at most the first hundred. */
  readonly faults: readonly string[]
}

const FAULTS_MAX = 100
const metadata: ReadonlySet<string> = new Set([
  'process_name',
  'process_sort_index',
  'thread_name',
  'thread_sort_index',
])

interface Slice {
  readonly from: number
  to: number
}

/**
 * Check the text of a trace file against the rules of the Trace Event Format (Google, 2016), as far as this package
 * uses it. It also checks what Perfetto asks of flows. Slices of one thread nest. A flow starts once, ends once, goes
 * forward in time, and each of its points lies in a slice of its thread.
 */
export function checkTrace(text: string): TraceSummary {
  const check = new Check()
  const { traceEvents, otherData } = JSON.parse(text) as { traceEvents?: unknown; otherData?: Missing }
  if (Array.isArray(traceEvents)) for (const event of traceEvents as TraceEvent[]) check.add(event)
  else check.complain('the array traceEvents is missing')
  return check.end(otherData)
}

/**
 * Do {@link checkTrace} for a file of any length. Files of this package have one line for each event and are read by
 * lines, because the longest string is 512 MiB.
 * @throws SyntaxError for invalid JSON; errors of the file system.
 */
export function checkTraceFile(path: string): TraceSummary {
  if (!hasEventLines(path)) return checkTrace(readFileSync(path, 'utf8'))
  const check = new Check()
  const lines = wholeLines(path)
  const { otherData } = JSON.parse(`${lines.next().value}${EVENTS_END}`) as { otherData?: Missing }
  let line = ''
  for (line of lines) if (line !== EVENTS_END) check.add(JSON.parse(line.replace(/,$/, '')) as TraceEvent)
  if (line !== EVENTS_END) check.complain('the file is truncated: its end is missing')
  return check.end(otherData)
}

/** What {@link checkTraceFile} looks for in the first bytes. */
const HEAD_BYTES_MAX = 4096

function hasEventLines(path: string): boolean {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(HEAD_BYTES_MAX)
    return /^[^\n]*"traceEvents":\[\n/.test(bytes.toString('utf8', 0, readSync(descriptor, bytes)))
  } finally {
    closeSync(descriptor)
  }
}

/** What a file says of its parts. */
interface Missing {
  readonly dropped?: number
  readonly crowded?: number
}

/** The last line, as the merging of parts writes it. */
export const EVENTS_END = ']}'

type TimedEvent = Pick<TraceEvent, 'ph' | 'tid' | 'bp' | 'id'> & { readonly ts: number; readonly dur: number }

class Check {
  readonly #faults: string[] = []
  readonly #names = new Map<number, string>()
  readonly #slices = new Map<number, Slice[]>()
  readonly #flows = new Map<number, TimedEvent[]>()
  /** By thread: where each of its slices begins, and how far it or any before it reaches. */
  readonly #reach = new Map<number, readonly Slice[]>()
  /** All that are sound, without what is not needed of them: there are many. */
  readonly #timed: TimedEvent[] = []
  #events = 0
  #unfinished = 0

  add(event: TraceEvent): void {
    this.#events += 1
    const { ph, tid, ts = 0, dur = 0, bp, id } = event
    if (!this.#isSound(event) || ph === 'M') return
    this.#timed.push({ ph, tid, ts, dur, ...(bp !== undefined && { bp }), ...(id !== undefined && { id }) })
  }

  end({ dropped = 0, crowded = 0 }: Missing = {}): TraceSummary {
    this.#collectSlices(this.#timed.sort((one, other) => one.ts - other.ts))
    for (const [thread, slices] of this.#slices) this.#checkNesting(thread, slices)
    for (const [thread, slices] of this.#slices) this.#reach.set(thread, reachOf(slices))
    for (const [id, points] of this.#flows) this.#checkFlow(id, points)
    return {
      processes: [...this.#names.values()],
      events: this.#events,
      flows: this.#flows.size,
      unfinished: this.#unfinished,
      dropped,
      crowded,
      faults: this.#faults,
    }
  }

  #isSound(event: TraceEvent): boolean {
    const { ph, pid, tid, ts, name, args } = event
    const before = this.#faults.length
    const what = JSON.stringify(event).slice(0, 150)
    if (!['B', 'E', 'X', 'i', 's', 't', 'f', 'M'].includes(ph)) this.complain(`the phase is not used here: ${what}`)
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(tid)) this.complain(`pid and tid must be integers: ${what}`)
    if (ph !== 'E' && typeof name !== 'string') this.complain(`the event has no name: ${what}`)
    if (args !== undefined && (typeof args !== 'object' || args === null))
      this.complain(`args must be an object: ${what}`)
    if (ph === 'M') {
      if (!metadata.has(name ?? '')) this.complain(`metadata of an unknown kind: ${what}`)
      else if (name === 'process_name') this.#names.set(pid, String(args?.['name']))
    } else if (!isTime(ts)) this.complain(`ts must be a number of microseconds: ${what}`)
    if (ph === 'X' && !isTime(event.dur)) this.complain(`the slice has no duration: ${what}`)
    if (ph === 'i' && event.s !== 't') this.complain(`the moment has no scope: ${what}`)
    if ((ph === 's' || ph === 't' || ph === 'f') && !Number.isSafeInteger(event.id))
      this.complain(`the flow has no number: ${what}`)
    return this.#faults.length === before
  }

  #collectSlices(byTime: readonly TimedEvent[]): void {
    const open = new Map<number, Slice[]>()
    for (const event of byTime) {
      const { ph, ts, dur, tid, id } = event
      if (ph === 'X') this.#slicesOf(tid).push({ from: ts, to: ts + dur })
      else if (ph === 'B') {
        const slice = { from: ts, to: Number.POSITIVE_INFINITY }
        this.#slicesOf(tid).push(slice)
        open.set(tid, [...(open.get(tid) ?? []), slice])
      } else if (ph === 'E') {
        const slice = open.get(tid)?.pop()
        if (slice === undefined) this.complain(`at ${ts} thread ${tid} ends a slice that has not started`)
        else slice.to = ts
      } else if (ph === 's' || ph === 't' || ph === 'f') {
        const points = this.#flows.get(id!) ?? []
        points.push(event)
        this.#flows.set(id!, points)
      }
    }
    for (const slices of open.values()) this.#unfinished += slices.length
  }

  #slicesOf(thread: number): Slice[] {
    const slices = this.#slices.get(thread) ?? []
    this.#slices.set(thread, slices)
    return slices
  }

  #checkNesting(thread: number, slices: Slice[]): void {
    const around: Slice[] = []
    for (const slice of slices.sort((one, other) => one.from - other.from || other.to - one.to)) {
      while (around.length > 0 && around.at(-1)!.to <= slice.from + SLACK) around.pop()
      const outer = around.at(-1)
      if (outer !== undefined && slice.to > outer.to + SLACK)
        this.complain(`slices of thread ${thread} overlap at ${slice.from}`)
      around.push(slice)
    }
  }

  #checkFlow(id: number, points: readonly TimedEvent[]): void {
    const order = points.map(({ ph }) => ph).join('')
    if (!/^st*f$/.test(order))
      this.complain(`flow ${id} has the order ${order}; it must be one s, any number of t, one f`)
    for (const { ts, tid, ph, bp } of points) {
      if (ph !== 's' && bp !== 'e') this.complain(`flow ${id} at ${ts} is not bound to the slice around it`)
      if (!isWithin(this.#reach.get(tid) ?? [], ts))
        this.complain(`flow ${id} at ${ts} lies outside the slices of thread ${tid}`)
    }
  }

  complain(text: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(text)
  }
}

function reachOf(slices: readonly Slice[]): Slice[] {
  let furthest = 0
  return slices.map(({ from, to }) => {
    furthest = Math.max(furthest, to)
    return { from, to: furthest }
  })
}

function isWithin(reach: readonly Slice[], at: number): boolean {
  let [low, high] = [0, reach.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (reach[middle]!.from <= at) low = middle + 1
    else high = middle
  }
  return low > 0 && at <= reach[low - 1]!.to + SLACK
}

/** Times are doubles: sums of them differ in the last places. */
const SLACK = 0.002

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

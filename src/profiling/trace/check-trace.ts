import type { TraceEvent } from './trace-event.ts'

/** What a trace file holds. */
export interface TraceSummary {
  readonly processes: readonly string[]
  readonly events: number
  readonly flows: number
  /** Slices that have a beginning and no end: of processes that were killed. */
  readonly unfinished: number
  readonly dropped: number
  /** What took its time and is missing, because too much of its thread was under way then. */
  readonly crowded: number
  /** What breaks a rule of the format, each in words; at most the first hundred. */
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
 * Hold the text of a trace file to the rules of the Trace Event Format (Google, 2016), as far as this package uses it, and to what Perfetto asks of
 * flows: slices of one thread nest, a flow begins once, ends once, goes forward in time, and each of its points lies in a slice of its thread.
 */
export function checkTrace(text: string): TraceSummary {
  return new Check().run(text)
}

class Check {
  readonly #faults: string[] = []
  readonly #names = new Map<number, string>()
  readonly #slices = new Map<number, Slice[]>()
  readonly #flows = new Map<number, TraceEvent[]>()
  /** By thread: where each of its slices begins, and how far it or any before it reaches. */
  readonly #reach = new Map<number, readonly Slice[]>()
  #unfinished = 0

  run(text: string): TraceSummary {
    const file = JSON.parse(text) as { traceEvents?: unknown; otherData?: { dropped?: number; crowded?: number } }
    const events = Array.isArray(file.traceEvents) ? (file.traceEvents as TraceEvent[]) : []
    if (!Array.isArray(file.traceEvents)) this.#complain('there is no array traceEvents')
    const byTime = events.filter((event) => this.#isSound(event)).sort((one, other) => (one.ts ?? 0) - (other.ts ?? 0))
    this.#collectSlices(byTime)
    for (const [thread, slices] of this.#slices) this.#checkNesting(thread, slices)
    for (const [thread, slices] of this.#slices) this.#reach.set(thread, reachOf(slices))
    for (const [id, points] of this.#flows) this.#checkFlow(id, points)
    return {
      processes: [...this.#names.values()],
      events: events.length,
      flows: this.#flows.size,
      unfinished: this.#unfinished,
      dropped: file.otherData?.dropped ?? 0,
      crowded: file.otherData?.crowded ?? 0,
      faults: this.#faults,
    }
  }

  #isSound(event: TraceEvent): boolean {
    const { ph, pid, tid, ts, name, args } = event
    const before = this.#faults.length
    const what = JSON.stringify(event).slice(0, 150)
    if (!['B', 'E', 'X', 'i', 's', 't', 'f', 'M'].includes(ph)) this.#complain(`a phase that is not used here: ${what}`)
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(tid)) this.#complain(`pid and tid are integers: ${what}`)
    if (ph !== 'E' && typeof name !== 'string') this.#complain(`an event has a name: ${what}`)
    if (args !== undefined && (typeof args !== 'object' || args === null)) this.#complain(`args is an object: ${what}`)
    if (ph === 'M') {
      if (!metadata.has(name ?? '')) this.#complain(`metadata of an unknown kind: ${what}`)
      else if (name === 'process_name') this.#names.set(pid, String(args?.['name']))
    } else if (!isTime(ts)) this.#complain(`ts is a number of microseconds: ${what}`)
    if (ph === 'X' && !isTime(event.dur)) this.#complain(`a whole slice has its duration: ${what}`)
    if (ph === 'i' && event.s !== 't') this.#complain(`a moment has a scope: ${what}`)
    if ((ph === 's' || ph === 't' || ph === 'f') && !Number.isSafeInteger(event.id))
      this.#complain(`a flow has a number: ${what}`)
    return this.#faults.length === before
  }

  #collectSlices(byTime: readonly TraceEvent[]): void {
    const open = new Map<number, Slice[]>()
    for (const { ph, ts = 0, dur = 0, tid, id, ...rest } of byTime) {
      if (ph === 'X') this.#slicesOf(tid).push({ from: ts, to: ts + dur })
      else if (ph === 'B') {
        const slice = { from: ts, to: Number.POSITIVE_INFINITY }
        this.#slicesOf(tid).push(slice)
        open.set(tid, [...(open.get(tid) ?? []), slice])
      } else if (ph === 'E') {
        const slice = open.get(tid)?.pop()
        if (slice === undefined) this.#complain(`at ${ts} a slice of thread ${tid} ends that has not begun`)
        else slice.to = ts
      } else if (ph === 's' || ph === 't' || ph === 'f') {
        const points = this.#flows.get(id!) ?? []
        points.push({ ph, ts, tid, ...rest })
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
        this.#complain(`slices of thread ${thread} overlap at ${slice.from}`)
      around.push(slice)
    }
  }

  #checkFlow(id: number, points: readonly TraceEvent[]): void {
    const order = points.map(({ ph }) => ph).join('')
    if (!/^st*f$/.test(order)) this.#complain(`flow ${id} goes ${order}: one s, any number of t, one f`)
    for (const { ts = 0, tid, ph, bp } of points) {
      if (ph !== 's' && bp !== 'e') this.#complain(`flow ${id} at ${ts} does not say that it means the slice around it`)
      if (!isWithin(this.#reach.get(tid) ?? [], ts))
        this.#complain(`flow ${id} at ${ts} lies in no slice of thread ${tid}`)
    }
  }

  #complain(text: string): void {
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

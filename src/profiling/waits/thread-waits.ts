import process from 'node:process'
import { threadId } from 'node:worker_threads'
import { BackOff } from './back-off.ts'
import { cycleInWords, findCycle, type WaitEdges } from './cycle.ts'
import { type WatchdogTimes, watchdogTimes } from './settings.ts'
import { printLine, publishWatchdog } from './telling.ts'
import { type KeyedWait, monotonicNow, type Wait, waitInWords } from './wait.ts'
import type { WaitTable } from './wait-table.ts'

/** What a member of a space waits for. */
export interface MemberWaits {
  readonly processId: number
  readonly waits: readonly Wait[]
}

/**
 * Lists the present waits of one kind of object. An unknown `sinceNs` may be the time when the wait was first listed.
 */
export type WaitSource = () => Iterable<KeyedWait>

/** Where one space's members see what this thread waits for. */
class WaitPlace {
  readonly others: () => Iterable<MemberWaits>
  readonly #table: WaitTable
  /** By key; undefined where the table had no slot left. */
  readonly #slots = new Map<string, number | undefined>()

  constructor(table: WaitTable, others: () => Iterable<MemberWaits>) {
    this.#table = table
    this.others = others
  }

  show(wait: KeyedWait): void {
    if (!this.#slots.has(wait.key)) this.#slots.set(wait.key, this.#table.take())
    const slot = this.#slots.get(wait.key)
    if (slot !== undefined) this.#table.write(slot, wait, threadId)
  }

  hide(key: string): void {
    const slot = this.#slots.get(key)
    if (slot !== undefined) this.#table.free(slot)
    this.#slots.delete(key)
  }

  clear(): void {
    for (const key of [...this.#slots.keys()]) this.hide(key)
  }
}

/**
 * What this thread waits for, asked for from time to time by a timer that keeps no process alive. Operations themselves
 * write nothing down: only what has become slow goes into the tables, those of all spaces that the thread is in.
 */
class ThreadWaits {
  readonly times: WatchdogTimes | undefined = watchdogTimes()
  readonly #sources = new Set<WaitSource>()
  readonly #since = new Map<string, number>()
  readonly #places = new Set<WaitPlace>()
  #timer: NodeJS.Timeout | undefined
  readonly #backOff: BackOff | undefined

  constructor() {
    if (this.times !== undefined) this.#backOff = new BackOff(this.times.afterMs * 1e6)
  }

  place(table: WaitTable, others: () => Iterable<MemberWaits>): () => void {
    const place = new WaitPlace(table, others)
    this.#places.add(place)
    return () => {
      if (this.#places.delete(place)) place.clear()
    }
  }

  add(source: WaitSource): () => void {
    if (this.times === undefined) return () => {}
    this.#sources.add(source)
    this.#timer ??= setInterval(() => this.#look(), this.times.lookMs).unref()
    return () => {
      this.#sources.delete(source)
      if (this.#sources.size > 0) return
      this.#look()
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  show(wait: KeyedWait): void {
    for (const place of this.#places) place.show(wait)
  }

  hide(key: string): void {
    for (const place of this.#places) place.hide(key)
  }

  tell(wait: Wait, nowNs: number): void {
    const text = waitInWords(`process ${process.pid}`, wait, nowNs)
    printLine(text)
    publishWatchdog({ text, wait })
    if (wait.processes.length > 0) this.#tellOfCycle(wait)
  }

  #tellOfCycle(wait: Wait): void {
    const edges: WaitEdges[] = [{ waiter: process.pid, others: wait.processes, object: wait.object }]
    for (const place of this.#places)
      for (const { processId, waits: theirs } of place.others())
        for (const { processes, object } of theirs) edges.push({ waiter: processId, others: processes, object })
    const processCycle = findCycle(edges, process.pid)
    if (processCycle === undefined || !wait.processes.includes(processCycle[1] ?? process.pid)) return
    const text = cycleInWords('process', processCycle, edges)
    printLine(text)
    publishWatchdog({ text, wait, processCycle })
  }

  #look(): void {
    const nowNs = monotonicNow()
    const waits: KeyedWait[] = []
    for (const source of this.#sources)
      for (const wait of source()) {
        const sinceNs = Math.min(wait.sinceNs, this.#since.get(wait.key) ?? nowNs)
        waits.push({ ...wait, sinceNs })
      }
    const present = new Set(waits.map(({ key }) => key))
    for (const key of this.#since.keys()) if (!present.has(key)) this.#forget(key)
    for (const wait of waits) this.#since.set(wait.key, wait.sinceNs)
    const due = this.#backOff!.step(waits, nowNs)
    for (const wait of waits)
      if (this.#backOff!.ageNs(wait.key, nowNs) >= (this.times!.afterMs * 1e6) / 2) this.show(wait)
    for (const wait of due) this.tell(wait, nowNs)
  }

  #forget(key: string): void {
    this.#since.delete(key)
    this.hide(key)
  }
}

const waits = new ThreadWaits()
let lastWatched = 0

/**
 * Show this thread's waits in `table`, as in all other placed tables, until the returned function is called. Without a
 * table, no other process sees them. `others` returns what the members of the same space show, this one included. It is
 * called when a wait is too long, to find cycles.
 */
export function placeWaits(table: WaitTable, others: () => Iterable<MemberWaits>): () => void {
  return waits.place(table, others)
}

/** Have the watchdog check `source` until the returned function is called. */
export function watchWaits(source: WaitSource): () => void {
  return waits.add(source)
}

/** The description of a wait, without its start. */
export type WaitDescription = Omit<Wait, 'sinceNs'>

/**
 * A wait whose own loop wakes now and then, even if it blocks the thread, and checks by itself. Make it when the sleep
 * starts, so that waits without a sleep cost nothing. Call `end()` when the wait is over.
 */
export class WatchedWait implements Disposable {
  readonly #describe: () => WaitDescription
  readonly #sinceNs: number
  readonly #key: string
  #backOff: BackOff | undefined
  #nextNs: number
  #isShown = false

  constructor(describe: () => WaitDescription) {
    this.#describe = describe
    this.#sinceNs = monotonicNow()
    this.#key = `watched ${++lastWatched}`
    this.#nextNs = waits.times === undefined ? Number.POSITIVE_INFINITY : this.#sinceNs + waits.times.lookMs * 1e6
  }

  look(): void {
    const nowNs = monotonicNow()
    if (nowNs < this.#nextNs || waits.times === undefined) return
    this.#nextNs = nowNs + waits.times.lookMs * 1e6
    const wait = { ...this.#describe(), sinceNs: this.#sinceNs, key: this.#key }
    this.#backOff ??= new BackOff(waits.times.afterMs * 1e6)
    const due = this.#backOff.step([wait], nowNs)
    if (nowNs - this.#sinceNs >= (waits.times.afterMs * 1e6) / 2) {
      this.#isShown = true
      waits.show(wait)
    }
    for (const late of due) waits.tell(late, nowNs)
  }

  end(): void {
    if (this.#isShown) waits.hide(this.#key)
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    this.end()
  }
}

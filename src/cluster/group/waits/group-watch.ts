import {
  BackOff,
  cycleInWords,
  findCycle,
  monotonicNow,
  printLine,
  type Wait,
  type WaitEdges,
  type WaitReading,
  type WaitTable,
  type WatchdogMessage,
  type WatchdogTimes,
  waitInWords,
} from '../../../profiling/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import { Inquiry, type InquiryOutcome } from './inquiry.ts'
import { healthInWords } from './rank-health.ts'
import type { OpenWait, WaitFinding, WaitingPart, WaitSubject } from './subject.ts'
import {
  type RankWait,
  rankWaitOf,
  readAnswer,
  type WatchAnswer,
  type WatchQuestion,
  watchAnswer,
} from './watch-message.ts'

const ANSWER_MS_MIN = 250
const ANSWER_MS_MAX = 2000
/** The time to answer a question if no watchdog is set. */
const ANSWER_MS = 1000
/** Subjects under inquiry at a time: a rank that waits for a thousand pages asks about the first. */
const INQUIRIES_MAX = 8
/** Places in the member's table that the agent takes; the others are for the program's threads. */
const SHOWN_MAX = 8

/** What a group waits for at a moment; see `group.waits()`. */
export interface GroupWaits {
  /** Waits of every rank that have lasted for at least half of AETHER_WATCHDOG_MS; for each rank the longest first. */
  readonly waits: readonly RankWait[]
  /** Ranks that did not say what they wait for, and what can be seen of them. */
  readonly silent: readonly { readonly rank: number; readonly state: string }[]
  /** Ranks that wait for each other in a circle. */
  readonly deadlocks: readonly (readonly number[])[]
}

/** Where and when the waits of this process are shown. */
export interface ShownWaits {
  /** What this process's threads show to others. */
  readonly table: WaitTable
  /** Undefined where there is no watchdog. */
  readonly times: WatchdogTimes | undefined
}

export interface GroupWatchOptions extends ShownWaits {
  readonly rank: number
  readonly runtime: Runtime
  readonly thread: number
  /** Every other rank that belongs to the group and has not left. */
  readonly others: () => readonly number[]
  readonly processOf: (rank: number) => number | undefined
  readonly ask: (rank: number, question: WatchQuestion, done: (answer: unknown) => void) => void
  /** Tell the program. */
  readonly notify: (message: WatchdogMessage) => void
}

interface Known extends WaitFinding {
  readonly wait: OpenWait
}

/**
 * The watchdog of one rank, in its agent, which keeps running while the program's thread is blocked.
 *
 * 1. From time to time it looks at what this rank waits for.
 * 2. It asks about a wait that has lasted for half of AETHER_WATCHDOG_MS. Every rank reports what it knows of that
 *    page, lock or barrier, and what it waits for itself.
 * 3. So the wait learns which ranks it is for, and is shown in the member's table.
 * 4. If it lasts too long, it is reported, together with the cycle that it is part of.
 */
export class GroupWatch {
  readonly #options: GroupWatchOptions
  readonly #times: WatchdogTimes | undefined
  readonly #parts: WaitingPart[] = []
  readonly #backOff: BackOff
  readonly #since = new Map<string, number>()
  readonly #known = new Map<string, Known>()
  readonly #asking = new Set<string>()
  readonly #slots = new Map<string, number | undefined>()
  #isClosed = false

  constructor(options: GroupWatchOptions) {
    this.#options = options
    this.#times = options.times
    this.#backOff = new BackOff((this.#times?.afterMs ?? 0) * 1e6)
  }

  add(part: WaitingPart): void {
    this.#parts.push(part)
  }

  /** Every rank is present: look from now on. */
  begin(): void {
    if (this.#times !== undefined) this.#lookLater(this.#times.lookMs)
  }

  close(): void {
    this.#isClosed = true
    for (const key of [...this.#slots.keys()]) this.#hide(key)
  }

  /** Another rank asks. */
  answer({ watch }: WatchQuestion): WatchAnswer {
    return watchAnswer(watch === null ? null : this.#own(watch), this.#shown())
  }

  /** What all ranks wait for. */
  survey(done: (waits: GroupWaits) => void): void {
    this.#inquire(null, ({ waits, silent }) => {
      done({ waits, silent: silent.map((rank) => ({ rank, state: this.#health(rank) })), deadlocks: circlesOf(waits) })
    })
  }

  #lookLater(lookMs: number): void {
    const { timers, now } = this.#options.runtime
    timers.at(now() + lookMs * 1e6, () => {
      if (this.#isClosed) return
      this.#look()
      this.#lookLater(lookMs)
    })
  }

  #look(): void {
    const nowNs = monotonicNow()
    const waits = this.#openWaits(nowNs)
    const due = new Set(this.#backOff.step(waits, nowNs))
    this.#forgetOthers(new Set(waits.map(({ key }) => key)))
    const slowNs = (this.#times!.afterMs * 1e6) / 2
    let untold = 0
    for (const wait of waits) {
      const isLate = due.has(wait)
      const isSlow = this.#backOff.ageNs(wait.key, nowNs) >= slowNs
      const isWanted = isLate || (isSlow && !this.#known.has(wait.key))
      if (isWanted && !this.#examine(wait, isLate) && isLate) untold += 1
    }
    if (untold > 0) printLine(`rank ${this.#options.rank} has ${untold} more waits that last as long`)
  }

  #openWaits(nowNs: number): OpenWait[] {
    const waits = this.#parts.flatMap((part) => [...part.waits()])
    const { table, thread } = this.#options
    for (const reading of table.read()) if (reading.thread !== thread) waits.push(this.#openWaitOf(reading))
    return waits.map((wait) => {
      const sinceNs = Math.min(wait.sinceNs, this.#since.get(wait.key) ?? nowNs)
      this.#since.set(wait.key, sinceNs)
      return { ...wait, sinceNs }
    })
  }

  /** What another thread of this process waits for. That thread reports it, but knows nothing of the other ranks. */
  #openWaitOf(reading: WaitReading): OpenWait {
    const { kind, object, state, sinceNs, thread } = reading
    const subject = { about: 'known', ranks: this.#ranksOf(reading), state } as const
    return { key: `thread ${thread} ${sinceNs}`, kind, object, sinceNs, subject, isTold: true }
  }

  #ranksOf({ ranks, processes }: WaitReading): number[] {
    const { others, processOf, rank } = this.#options
    const byProcess = [rank, ...others()].filter((other) => {
      const processId = other === rank ? process.pid : processOf(other)
      return processId !== undefined && processes.includes(processId)
    })
    return [...new Set([...ranks, ...byProcess])]
  }

  #forgetOthers(present: ReadonlySet<string>): void {
    for (const key of this.#since.keys()) {
      if (present.has(key)) continue
      this.#since.delete(key)
      this.#known.delete(key)
      this.#hide(key)
    }
  }

  /** Returns false if too many subjects are under inquiry, so that this one is left out. */
  #examine(wait: OpenWait, isLate: boolean): boolean {
    if (this.#asking.has(wait.key)) return true
    const { subject } = wait
    if (subject.about === 'known' && (!isLate || subject.ranks.length === 0)) {
      this.#conclude(wait, subject, [], isLate)
      return true
    }
    if (this.#asking.size >= INQUIRIES_MAX) return false
    // If the awaited ranks are known already, the others are asked only what they wait for: that may close a cycle.
    const question = subject.about === 'known' ? null : subject
    this.#asking.add(wait.key)
    this.#inquire(question, (outcome) => {
      this.#asking.delete(wait.key)
      if (!this.#since.has(wait.key) || this.#isClosed) return
      const found = subject.about === 'known' ? subject : this.#explain(subject, outcome)
      this.#conclude(wait, found, outcome.waits, isLate)
    })
    return true
  }

  #inquire(subject: WaitSubject | null, done: (outcome: InquiryOutcome) => void): void {
    const { rank, ask, others, runtime } = this.#options
    const asked = others()
    const inquiry = new Inquiry([rank, ...asked], done)
    const halfMs = (this.#times?.afterMs ?? 2 * ANSWER_MS) / 2
    const answerMs = Math.min(ANSWER_MS_MAX, Math.max(ANSWER_MS_MIN, halfMs))
    runtime.timers.at(runtime.now() + answerMs * 1e6, () => inquiry.end())
    const question = { watch: subject }
    for (const other of asked) ask(other, question, (answer) => inquiry.answer(other, readAnswer(other, answer)))
    inquiry.answer(rank, this.answer(question))
  }

  #explain(subject: WaitSubject, { said, silent }: InquiryOutcome): WaitFinding {
    for (const part of this.#parts) {
      const found = part.explain(subject, { self: this.#options.rank, said, silent })
      if (found !== undefined) return this.#withHealth(found, silent)
    }
    return { ranks: [], state: '' }
  }

  #withHealth({ ranks, state }: WaitFinding, silent: readonly number[]): WaitFinding {
    const words = silent.filter((rank) => ranks.includes(rank)).map((rank) => `rank ${rank} ${this.#health(rank)}`)
    return { ranks, state: [...(state === '' ? [] : [state]), ...words].join('; ') }
  }

  #health(rank: number): string {
    return healthInWords(this.#options.processOf(rank))
  }

  #conclude(wait: OpenWait, { ranks, state }: WaitFinding, others: readonly RankWait[], isLate: boolean): void {
    const { rank, notify } = this.#options
    this.#known.set(wait.key, { ranks, state, wait })
    const { key, kind, object, sinceNs } = wait
    const found: Wait = { kind, object, state, sinceNs, ranks, processes: [] }
    if (!wait.isTold) this.#show(key, found)
    if (!isLate || wait.isQuiet === true) return
    const nowNs = monotonicNow()
    if (!wait.isTold) {
      const text = waitInWords(`rank ${rank}`, found, nowNs)
      printLine(text)
      notify({ text, wait: found, rank })
    }
    const waits = [...this.#ownWaits(nowNs), ...others.filter((other) => other.rank !== rank)]
    const edges = edgesOf(waits)
    const cycle = findCycle(edges, rank)
    // Another of our waits may be the one that closes the cycle; that one reports it.
    if (cycle === undefined || !ranks.includes(cycle[1] ?? rank)) return
    const text = cycleInWords('rank', cycle, edges)
    printLine(text)
    notify({ text, wait: found, rank, cycle })
  }

  /** What this rank knows of a subject. */
  #own(subject: WaitSubject): unknown {
    for (const part of this.#parts) {
      const said = part.answer(subject)
      if (said !== undefined) return said
    }
    return null
  }

  #shown(): RankWait[] {
    const nowNs = monotonicNow()
    // What is over since the last look is no longer reported.
    this.#forgetOthers(new Set(this.#openWaits(nowNs).map(({ key }) => key)))
    const { rank, table } = this.#options
    return table.read().map((reading) => rankWaitOf(rank, reading, nowNs, (wait) => this.#ranksOf(wait)))
  }

  #ownWaits(nowNs: number): RankWait[] {
    return [...this.#known.values()].map(({ wait: { kind, object, sinceNs }, state, ranks }) => {
      return { rank: this.#options.rank, kind, object, state, ranks, waitedMs: (nowNs - sinceNs) / 1e6 }
    })
  }

  #show(key: string, wait: Wait): void {
    const { table, thread } = this.#options
    if (!this.#slots.has(key) && this.#slots.size < SHOWN_MAX) this.#slots.set(key, table.take())
    const slot = this.#slots.get(key)
    if (slot !== undefined) table.write(slot, wait, thread)
  }

  #hide(key: string): void {
    const slot = this.#slots.get(key)
    if (slot !== undefined) this.#options.table.free(slot)
    this.#slots.delete(key)
  }
}

/** Every cycle once, starting with its lowest rank. */
function circlesOf(waits: readonly RankWait[]): number[][] {
  const circles = new Map<string, number[]>()
  const edges = edgesOf(waits)
  for (const { rank } of waits) {
    const cycle = findCycle(edges, rank)
    if (cycle === undefined) continue
    const first = cycle.indexOf(Math.min(...cycle))
    const turned = [...cycle.slice(first), ...cycle.slice(0, first)]
    circles.set(turned.join(), turned)
  }
  return [...circles.values()]
}

function edgesOf(waits: readonly RankWait[]): WaitEdges[] {
  return waits.map(({ rank, ranks, object }) => ({ waiter: rank, others: ranks, object }))
}

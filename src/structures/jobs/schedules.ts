import { type Codec, structured } from '../../codecs/index.ts'
import {
  checkOptions,
  checkText,
  checkWhole,
  messageOfThrown,
  mustBe,
  type OptionNames,
  peerPackage,
} from '../../native/index.ts'
import type { Meter } from '../figures/meter.ts'
import { SharedMap, UNCHANGED, VALUE_BYTES_MAX } from '../map/shared-map.ts'
import type { JobCore, TakenJob } from './job-core.ts'
import { DELAY_MS_MAX } from './job-options.ts'
import { JobPhase, JobRecord, type JobTerms } from './job-record.ts'

/** When a job is added again: one of the two. */
export type ScheduleRule =
  | {
      /** The time from one job to the next, in milliseconds. Jobs are due at multiples of it since 1970. */
      readonly everyMs: number
    }
  | {
      /** Five or six fields, as in crontab(5): `0 3 * * *` is three in the morning. Needs the package `cron-parser`. */
      readonly cron: string
      /** The time zone in which it is meant, such as `Europe/Vienna`. Default: that of the process. */
      readonly timeZone?: string
    }

/** A schedule that exists. */
export interface JobSchedule {
  readonly name: string
  readonly rule: ScheduleRule
  /** When its next job is due. */
  readonly nextAt: Date
}

/** What is kept of a schedule. */
interface Entry {
  readonly rule: ScheduleRule
  readonly data: Uint8Array
  readonly terms: JobTerms
  /** By the wall clock. */
  readonly nextAtMs: number
}

type AnyRule = { readonly everyMs?: number; readonly cron?: string; readonly timeZone?: string }
const ruleNames: OptionNames<AnyRule> = { everyMs: true, cron: true, timeZone: true }
const NAME_BYTES_MAX = 64
/** How often a process looks whether the next jobs of all schedules are there. */
const TEND_MS = 10_000

interface CronParser {
  readonly CronExpressionParser: {
    parse(text: string, options: { currentDate: Date; tz?: string }): { next(): { getTime(): number } }
  }
}

/**
 * Jobs that are added again and again. A schedule says when its next job is due, which is in the queue already. The
 * worker that takes that job first plans the one after it: it changes the schedule, then adds the job.
 *
 * A process that is killed in between leaves a schedule whose job is missing; {@link tend} adds it. The id of the job
 * has the time in it, so it is added once.
 */
export class Schedules {
  readonly #core: JobCore
  readonly #map: SharedMap<Entry>
  #tendedMs = Number.NEGATIVE_INFINITY

  constructor(name: string, core: JobCore, body: number, meter: Meter) {
    this.#core = core
    const plain = {
      codec: structured as Codec<Entry>,
      valueBytesMax: 2 * VALUE_BYTES_MAX,
      ttlMs: 0,
      maxEntries: 0,
      meter,
    }
    this.#map = new SharedMap(name, core.heap, body, plain)
  }

  /** @throws ArgumentError, PackageMissingError, HeapFullError */
  set(name: string, rule: ScheduleRule, data: Uint8Array, terms: JobTerms): void {
    checkName(name)
    checkRule(rule)
    const entry: Entry = { rule, data: new Uint8Array(data), terms, nextAtMs: nextAt(rule, Date.now()) }
    let before: Entry | undefined
    SharedMap.replace(this.#map, name, (there) => {
      before = there
      return there !== undefined && isSame(there, entry) ? UNCHANGED : entry
    })
    const isNew = before === undefined || !isSame(before, entry)
    if (before !== undefined && isNew) this.#removeJob(name, before)
    this.#ensure(name, isNew ? entry : before!)
  }

  remove(name: string): boolean {
    checkName(name)
    const entry = this.#map.getSync(name)
    if (entry === undefined || !this.#map.deleteSync(name)) return false
    this.#removeJob(name, entry)
    return true
  }

  list(): readonly JobSchedule[] {
    const found = [...this.#map.entriesSync()].map(([name, { rule, nextAtMs }]) => {
      return { name: String(name), rule, nextAt: new Date(nextAtMs) }
    })
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** A job was taken: if it is the next one of a schedule, plan the one after it. @throws PackageMissingError */
  follow({ id, record }: TakenJob): void {
    if (record.schedule.length === 0) return
    const name = Buffer.from(record.schedule).toString()
    let next: Entry | undefined
    SharedMap.replace(this.#map, name, (entry) => {
      next = undefined
      if (entry === undefined || idOf(name, entry) !== id) return UNCHANGED
      next = { ...entry, nextAtMs: nextAt(entry.rule, Math.max(entry.nextAtMs, Date.now())) }
      return next
    })
    if (next !== undefined) this.#ensure(name, next)
  }

  /** Now and then: add what is missing. */
  tend(): void {
    const now = this.#core.now()
    if (now - this.#tendedMs < TEND_MS) return
    this.#tendedMs = now
    for (const [name, entry] of this.#map.entriesSync()) this.#ensure(String(name), entry)
  }

  #ensure(name: string, entry: Entry): void {
    const id = idOf(name, entry)
    if (this.#core.get(id) !== undefined) return
    const dueMs = this.#core.now() + entry.nextAtMs - Date.now()
    this.#core.add(id, JobRecord.of(entry.terms, entry.data, dueMs, Buffer.from(name)))
  }

  #removeJob(name: string, entry: Entry): void {
    this.#core.remove(idOf(name, entry), (record) => record.phase === JobPhase.Pending)
  }
}

function idOf(name: string, { nextAtMs }: Entry): string {
  return `${name}@${new Date(nextAtMs).toISOString()}`
}

/** The first time after `afterMs`. @throws ArgumentError, PackageMissingError */
function nextAt(rule: ScheduleRule, afterMs: number): number {
  if ('everyMs' in rule) return (Math.floor(afterMs / rule.everyMs) + 1) * rule.everyMs
  const { CronExpressionParser } = peerPackage<CronParser>('cron-parser')
  try {
    const zone = rule.timeZone === undefined ? {} : { tz: rule.timeZone }
    return CronExpressionParser.parse(rule.cron, { currentDate: new Date(afterMs), ...zone })
      .next()
      .getTime()
  } catch (cause) {
    throw mustBe('rule.cron', `a cron expression and a time zone that exist (${messageOfThrown(cause)})`, rule.cron)
  }
}

/** Whether two schedules differ in their next time only. */
function isSame(a: Entry, b: Entry): boolean {
  const [one, other] = [a, b].map(({ rule, data, terms }) => structured.encode({ rule, data, terms }).slice())
  return Buffer.compare(one!, other!) === 0
}

/** @throws ArgumentError */
function checkName(name: string): void {
  checkText('name', name)
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw mustBe('name', `a string of at most ${NAME_BYTES_MAX} bytes in UTF-8`, name)
}

/** @throws ArgumentError */
function checkRule(rule: ScheduleRule): void {
  checkOptions('repeat', rule as AnyRule, ruleNames, 'rule')
  const { everyMs, cron, timeZone } = (rule ?? {}) as AnyRule
  if ((everyMs === undefined) === (cron === undefined)) throw mustBe('rule', '{ everyMs } or { cron }', rule)
  if (everyMs !== undefined) checkWhole('rule.everyMs', everyMs, 1, DELAY_MS_MAX)
  else checkText('rule.cron', cron)
  if (timeZone !== undefined) checkText('rule.timeZone', timeZone)
}

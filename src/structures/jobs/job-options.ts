import type { Codec } from '../../codecs/index.ts'
import {
  checkBoolean,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { JobTerms } from './job-record.ts'
import { JOB_ID_BYTES_MAX } from './layout.ts'
import { levelOf, PRIORITY_MAX } from './ready-lists.ts'

/** How long to wait after a failed attempt. */
interface JobBackoff {
  /** After the first failure, in milliseconds. */
  readonly delayMs: number
  /** Twice as long after each further one. Default false. */
  readonly exponential?: boolean
  /** The longest wait. Default one day. */
  readonly maxMs?: number
}

/** How often a job is tried, and how long it is kept after its end. */
export interface JobRules {
  /** Attempts in total, as long as they end in an error. Default 1: no other. */
  readonly attempts?: number
  /** Attempts whose worker may be killed or silent before the job counts as failed. Default 3. */
  readonly lossesMax?: number
  /** The wait before another attempt: milliseconds, or how they grow. Default 0. */
  readonly backoff?: number | JobBackoff
  /** How long a completed job stays, with its result, in milliseconds. Default 0: it is removed at once. */
  readonly keepCompletedMs?: number
  /** How long a failed job stays, with its error, in milliseconds. Default `Infinity`: until it is removed. */
  readonly keepFailedMs?: number
}

/** Options of `jobs()`. Those of {@link JobRules} are for jobs that this process adds and says nothing else of. */
export interface JobsOptions<V> extends JobRules {
  /** How the data of jobs become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /** The longest data that this process adds, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
  /**
   * How long this process keeps its jobs without a sign of life, in milliseconds. It renews the lease from its event
   * loop three times in that time. The jobs of a process that is stopped or blocked for longer go to others. Those of
   * one that has ended do so at once. Default 30 s.
   */
  readonly leaseMs?: number
}

/** Options of `add`. */
export interface AddOptions extends JobRules, WaitOptions {
  /** Not before this many milliseconds from now. Default 0. */
  readonly delayMs?: number
  /** From -10 to 10; higher ones are taken first. Default 0. */
  readonly priority?: number
}

const rules = {
  attempts: true,
  lossesMax: true,
  backoff: true,
  keepCompletedMs: true,
  keepFailedMs: true,
} satisfies OptionNames<JobRules>

export const jobsNames: OptionNames<JobsOptions<unknown>> = {
  ...rules,
  codec: true,
  valueBytesMax: true,
  leaseMs: true,
}
const addNames: OptionNames<AddOptions> = { ...rules, delayMs: true, priority: true, signal: true }
const backoffNames: OptionNames<JobBackoff> = { delayMs: true, exponential: true, maxMs: true }

/** The default lease. */
export const JOB_LEASE_MS = 30_000
const LEASE_MS_MAX = 2 ** 31 - 1
const COUNT_MAX = 2 ** 31 - 1
const LOSSES_MAX = 3
const BACKOFF_MS_MAX = 86_400_000
/** 34 years. */
export const DELAY_MS_MAX: number = 2 ** 40

/** @throws ArgumentError; the reason of the signal if it is aborted. */
export function checkAdd(call: string, options: AddOptions | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, addNames)
  checkSignal('options.signal', options.signal)
  checkDelay('options.delayMs', options.delayMs)
  if (options.priority !== undefined) checkWhole('options.priority', options.priority, -PRIORITY_MAX, PRIORITY_MAX)
  checkRules(options)
}

/** @throws ArgumentError */
export function checkRules({ attempts, lossesMax, backoff, keepCompletedMs, keepFailedMs }: JobRules): void {
  if (attempts !== undefined && attempts !== Number.POSITIVE_INFINITY)
    checkWhole('options.attempts', attempts, 1, COUNT_MAX)
  if (lossesMax !== undefined) checkWhole('options.lossesMax', lossesMax, 0, COUNT_MAX)
  checkKept('options.keepCompletedMs', keepCompletedMs)
  checkKept('options.keepFailedMs', keepFailedMs)
  if (typeof backoff === 'object') checkBackoff(backoff)
  else checkDelay('options.backoff', backoff)
}

function checkBackoff(backoff: JobBackoff): void {
  checkOptions('jobs', backoff, backoffNames, 'options.backoff')
  const { delayMs, exponential, maxMs } = backoff
  checkDelay('options.backoff.delayMs', delayMs ?? Number.NaN)
  checkDelay('options.backoff.maxMs', maxMs)
  if (exponential !== undefined) checkBoolean('options.backoff.exponential', exponential)
}

/** @throws ArgumentError */
export function checkJobLease(leaseMs: number): void {
  checkMilliseconds('options.leaseMs', leaseMs)
  if (leaseMs > LEASE_MS_MAX) throw mustBe('options.leaseMs', `at most ${LEASE_MS_MAX}`, leaseMs)
}

/** @throws ArgumentError unless it is a time from 0 on that ends, or undefined. */
export function checkDelay(argument: string, value: number | undefined): void {
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= DELAY_MS_MAX)) return
  throw mustBe(argument, 'a number of milliseconds from 0 to 2^40', value)
}

function checkKept(argument: string, value: number | undefined): void {
  if (value !== Number.POSITIVE_INFINITY) checkDelay(argument, value)
}

/** @throws ArgumentError */
export function checkJobId(id: string): string {
  checkText('id', id)
  if (Buffer.byteLength(id) <= JOB_ID_BYTES_MAX) return id
  throw mustBe('id', `a string of at most ${JOB_ID_BYTES_MAX} bytes in UTF-8`, id)
}

/** @throws ArgumentError for what could be an id that the queue gives. */
export function checkOwnJobId(id: string): string {
  if (!/^\d+$/.test(checkJobId(id))) return id
  throw mustBe('id', 'something else than a whole number: those are given by add()', id)
}

/** What is kept with a job. `options` come before `defaults`. */
export function termsOf(options: AddOptions, defaults: JobRules): JobTerms {
  const { attempts = 1, lossesMax = LOSSES_MAX, backoff = 0, ...kept } = { ...defaults, ...given(options) }
  const {
    delayMs,
    exponential = false,
    maxMs = BACKOFF_MS_MAX,
  } = typeof backoff === 'number' ? { delayMs: backoff } : backoff
  return {
    level: levelOf(options.priority ?? 0),
    attemptsMax: Math.min(attempts, COUNT_MAX),
    lossesMax,
    backoffMs: delayMs,
    backoffMsMax: maxMs,
    isExponential: exponential,
    keepCompletedMs: kept.keepCompletedMs ?? 0,
    keepFailedMs: kept.keepFailedMs ?? Number.POSITIVE_INFINITY,
  }
}

/** Without what is undefined. */
function given(options: AddOptions): AddOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

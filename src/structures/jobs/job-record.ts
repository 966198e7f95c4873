/** What is done with a job next. Numbers are part of the layout. */
export const JobPhase = { Pending: 0, Active: 1, Completed: 2, Failed: 3 } as const

const Offset = {
  Phase: 0,
  Level: 1,
  Exponential: 2,
  Owner: 4,
  Term: 8,
  Attempt: 12,
  Failures: 16,
  AttemptsMax: 20,
  Losses: 24,
  LossesMax: 28,
  DueMs: 32,
  AddedAtMs: 40,
  StartedAtMs: 48,
  EndedAtMs: 56,
  KeepCompletedMs: 64,
  KeepFailedMs: 72,
  BackoffMs: 80,
  BackoffMsMax: 88,
  ScheduleLength: 96,
  DataLength: 100,
  OutcomeLength: 104,
  ProgressLength: 108,
  Bytes: 112,
} as const

/** Bytes of a record before its data. */
export const JOB_HEAD_BYTES: number = Offset.Bytes

/** How often a job is tried, and what is kept of it. Times are milliseconds. */
export interface JobTerms {
  readonly level: number
  readonly attemptsMax: number
  readonly lossesMax: number
  readonly backoffMs: number
  readonly backoffMsMax: number
  readonly isExponential: boolean
  readonly keepCompletedMs: number
  readonly keepFailedMs: number
}

/** The holder of a job: a member's owner word, its term (see workers.ts), and the number of the attempt. */
export interface Hold {
  readonly owner: number
  readonly term: number
  readonly attempt: number
}

/**
 * A job as bytes: the value of its entry in the map. Each step of a job replaces them as a whole.
 *
 * ```
 *    0  phase, level, whether the back-off is exponential
 *    4  holder: owner, term, attempt          16  failures, most attempts    24  losses, most losses
 *   32  due, by the clock of the heap         40  added, started, ended, by the wall clock
 *   64  how long it is kept: completed, failed      80  back-off: first, longest
 *   96  lengths of what follows from 112 on: schedule | data | result or error | progress
 * ```
 */
export class JobRecord {
  readonly bytes: Uint8Array
  readonly #view: DataView

  /** Of bytes that belong to it alone. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** A new job. `schedule`: the name of the schedule that it is an occurrence of, or nothing. */
  static of(terms: JobTerms, data: Uint8Array, dueMs: number, schedule: Uint8Array = NOTHING): JobRecord {
    const record = new JobRecord(new Uint8Array(Offset.Bytes + schedule.length + data.length))
    const view = record.#view
    view.setUint8(Offset.Level, terms.level)
    view.setUint8(Offset.Exponential, terms.isExponential ? 1 : 0)
    view.setUint32(Offset.AttemptsMax, terms.attemptsMax, true)
    view.setUint32(Offset.LossesMax, terms.lossesMax, true)
    view.setFloat64(Offset.DueMs, dueMs, true)
    view.setFloat64(Offset.AddedAtMs, Date.now(), true)
    view.setFloat64(Offset.KeepCompletedMs, terms.keepCompletedMs, true)
    view.setFloat64(Offset.KeepFailedMs, terms.keepFailedMs, true)
    view.setFloat64(Offset.BackoffMs, terms.backoffMs, true)
    view.setFloat64(Offset.BackoffMsMax, terms.backoffMsMax, true)
    view.setUint32(Offset.ScheduleLength, schedule.length, true)
    view.setUint32(Offset.DataLength, data.length, true)
    record.bytes.set(schedule, Offset.Bytes)
    record.bytes.set(data, Offset.Bytes + schedule.length)
    return record
  }

  get phase(): number {
    return this.#view.getUint8(Offset.Phase)
  }

  /** The ready list that it goes to: see ready-lists.ts. */
  get level(): number {
    return this.#view.getUint8(Offset.Level)
  }

  get owner(): number {
    return this.#view.getInt32(Offset.Owner, true)
  }

  get hold(): Hold {
    const view = this.#view
    return {
      owner: view.getInt32(Offset.Owner, true),
      term: view.getUint32(Offset.Term, true),
      attempt: view.getUint32(Offset.Attempt, true),
    }
  }

  /** Attempts that ended in an error. */
  get failures(): number {
    return this.#view.getUint32(Offset.Failures, true)
  }

  get attemptsMax(): number {
    return this.#view.getUint32(Offset.AttemptsMax, true)
  }

  /** Attempts whose worker was lost. */
  get losses(): number {
    return this.#view.getUint32(Offset.Losses, true)
  }

  /** A pending job may be taken from here on. */
  get dueMs(): number {
    return this.#view.getFloat64(Offset.DueMs, true)
  }

  get addedAtMs(): number {
    return this.#view.getFloat64(Offset.AddedAtMs, true)
  }

  /** 0: it was never taken. */
  get startedAtMs(): number {
    return this.#view.getFloat64(Offset.StartedAtMs, true)
  }

  /** 0: it has not ended. */
  get endedAtMs(): number {
    return this.#view.getFloat64(Offset.EndedAtMs, true)
  }

  get keepCompletedMs(): number {
    return this.#view.getFloat64(Offset.KeepCompletedMs, true)
  }

  get keepFailedMs(): number {
    return this.#view.getFloat64(Offset.KeepFailedMs, true)
  }

  /** The name of its schedule in UTF-8; empty without one. */
  get schedule(): Uint8Array {
    return this.#section(0)
  }

  get data(): Uint8Array {
    return this.#section(1)
  }

  /** The result of a completed job; the error of its last attempt otherwise. */
  get outcome(): Uint8Array {
    return this.#section(2)
  }

  get progress(): Uint8Array {
    return this.#section(3)
  }

  /** Where its last part ends, as the lengths of the parts say: at its own end, unless it is damaged. */
  get endBytes(): number {
    return this.#end(3)
  }

  isHeldBy({ owner, term, attempt }: Hold): boolean {
    if (this.phase !== JobPhase.Active || this.owner !== owner) return false
    const view = this.#view
    return view.getUint32(Offset.Term, true) === term && view.getUint32(Offset.Attempt, true) === attempt
  }

  /** Whether the back-off after this failure leaves an attempt. */
  get mayRetry(): boolean {
    return this.failures + 1 < this.attemptsMax
  }

  /** How long to wait after the failure that {@link retryAt} is about to count. */
  get backoffMs(): number {
    const first = this.#view.getFloat64(Offset.BackoffMs, true)
    if (this.#view.getUint8(Offset.Exponential) === 0) return first
    return Math.min(first * 2 ** Math.min(this.failures, 1000), this.#view.getFloat64(Offset.BackoffMsMax, true))
  }

  /** Taken by `owner`; the attempt is counted. */
  activate(owner: number, term: number): void {
    const view = this.#view
    view.setUint8(Offset.Phase, JobPhase.Active)
    view.setInt32(Offset.Owner, owner, true)
    view.setUint32(Offset.Term, term, true)
    view.setUint32(Offset.Attempt, view.getUint32(Offset.Attempt, true) + 1, true)
    view.setFloat64(Offset.StartedAtMs, Date.now(), true)
  }

  /** Its holder has a new term. */
  restamp(term: number): void {
    this.#view.setUint32(Offset.Term, term, true)
  }

  /** To be taken again from `dueMs` on. */
  release(dueMs: number): void {
    const view = this.#view
    view.setUint8(Offset.Phase, JobPhase.Pending)
    view.setInt32(Offset.Owner, 0, true)
    view.setFloat64(Offset.DueMs, dueMs, true)
    view.setFloat64(Offset.EndedAtMs, 0, true)
  }

  /** Its worker was lost. False if that has happened too often. */
  countLoss(): boolean {
    const losses = this.losses + 1
    this.#view.setUint32(Offset.Losses, losses, true)
    return losses <= this.#view.getUint32(Offset.LossesMax, true)
  }

  /** Counts from the start again, as if it were new. */
  forgive(): void {
    this.#view.setUint32(Offset.Failures, 0, true)
    this.#view.setUint32(Offset.Losses, 0, true)
  }

  countFailure(): void {
    this.#view.setUint32(Offset.Failures, this.failures + 1, true)
  }

  end(phase: number): void {
    const view = this.#view
    view.setUint8(Offset.Phase, phase)
    view.setInt32(Offset.Owner, 0, true)
    view.setFloat64(Offset.EndedAtMs, Date.now(), true)
  }

  /** The same job with another result or error. */
  withOutcome(outcome: Uint8Array): JobRecord {
    return this.#with(outcome, this.progress)
  }

  withProgress(progress: Uint8Array): JobRecord {
    return this.#with(this.outcome, progress)
  }

  #with(outcome: Uint8Array, progress: Uint8Array): JobRecord {
    const head = this.#end(1)
    const record = new JobRecord(new Uint8Array(head + outcome.length + progress.length))
    record.bytes.set(this.bytes.subarray(0, head))
    record.bytes.set(outcome, head)
    record.bytes.set(progress, head + outcome.length)
    record.#view.setUint32(Offset.OutcomeLength, outcome.length, true)
    record.#view.setUint32(Offset.ProgressLength, progress.length, true)
    return record
  }

  #section(index: number): Uint8Array {
    return this.bytes.subarray(index === 0 ? Offset.Bytes : this.#end(index - 1), this.#end(index))
  }

  /** Where a section ends. */
  #end(index: number): number {
    let end: number = Offset.Bytes
    for (let at = 0; at <= index; at += 1) end += this.#view.getUint32(Offset.ScheduleLength + at * 4, true)
    return end
  }
}

const NOTHING = new Uint8Array(0)

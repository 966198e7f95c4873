import { checkOptions, type OptionNames } from '../../native/index.ts'
import { JobError } from './errors.ts'
import type { JobCore, TakenJob } from './job-core.ts'
import { checkDelay } from './job-options.ts'
import { encodeFailure, encodeOwn } from './job-outcome.ts'

/** Options of {@link Job.fail}. */
export interface FailOptions {
  /** False: no other attempt, whatever is left. */
  readonly retry?: boolean
}

/** Options of {@link Job.release}. */
export interface ReleaseOptions {
  /** Not before this many milliseconds from now. Default 0. */
  readonly delayMs?: number
}

const failNames: OptionNames<FailOptions> = { retry: true }
const releaseNames: OptionNames<ReleaseOptions> = { delayMs: true }

/**
 * A job that this process holds: it has to complete it, fail it or release it. If the process ends before that, or does
 * not renew its lease, the job goes to another worker.
 */
export class Job<V, R = unknown> implements AsyncDisposable {
  readonly id: string
  readonly data: V
  /** Which time it is that it was taken, from 1 on. */
  readonly attempt: number
  /** Earlier attempts that ended in an error. */
  readonly failures: number
  /** Earlier attempts whose worker was killed, or did not renew its lease. */
  readonly losses: number
  /** The name of the schedule that it is an occurrence of. */
  readonly schedule: string | undefined
  readonly #core: JobCore
  readonly #queue: string
  readonly #taken: TakenJob
  #isSettled = false
  #isLost = false
  #lost: AbortController | undefined

  /** @internal */
  constructor(queue: string, core: JobCore, taken: TakenJob, data: V) {
    const { id, record, hold } = taken
    this.id = id
    this.data = data
    this.attempt = hold.attempt
    this.failures = record.failures
    this.losses = record.losses
    this.schedule = record.schedule.length === 0 ? undefined : Buffer.from(record.schedule).toString()
    this.#queue = queue
    this.#core = core
    this.#taken = taken
    core.keep(taken, () => {
      this.#isLost = true
      this.#lost?.abort(this.#lostError())
    })
  }

  /** Aborted if the job was given to another worker because the lease was not renewed. */
  get signal(): AbortSignal {
    this.#lost ??= new AbortController()
    if (this.#isLost) this.#lost.abort(this.#lostError())
    return this.#lost.signal
  }

  /** Whether it was completed, failed or released. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The job is done. @throws JobError if it is not held any more; then another worker has it or has completed it. */
  async complete(result?: R): Promise<void> {
    const { keepCompletedMs } = this.#taken.record
    this.#settle((id) =>
      this.#core.complete(id, keepCompletedMs, () => (result === undefined ? NOTHING : encodeOwn(result))),
    )
  }

  /** The attempt failed. If attempts are left there is another one after the back-off. @throws JobError */
  async fail(error: unknown, options: FailOptions = {}): Promise<void> {
    checkOptions('fail', options, failNames)
    const { record } = this.#taken
    const failure = encodeFailure(error)
    this.#settle((id) =>
      options.retry !== false && record.mayRetry
        ? this.#core.retryLater(id, this.#core.now() + record.backoffMs, failure)
        : this.#core.bury(id, record.keepFailedMs, failure),
    )
  }

  /** Give it back; the attempt does not count as a failure. @throws JobError */
  async release(options: ReleaseOptions = {}): Promise<void> {
    checkOptions('release', options, releaseNames)
    const { delayMs = 0 } = options
    checkDelay('options.delayMs', delayMs)
    this.#settle((id) => this.#core.release(id, delayMs === 0 ? 0 : this.#core.now() + delayMs))
  }

  /** Say how far it is: any value that `structuredClone` takes. @throws JobError */
  async progress(value: unknown): Promise<void> {
    if (!this.#isHeld() || !this.#core.report(this.id, encodeOwn(value))) throw this.#lostError()
  }

  /** If it was not settled, the attempt counts as failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isSettled || !this.#isHeld()) return
    await this.fail(new Error('the worker left the block of the job without completing it'))
  }

  #settle(settle: (id: string) => boolean): void {
    if (!this.#isHeld() || !settle(this.id)) throw this.#lostError()
    this.#isSettled = true
  }

  #isHeld(): boolean {
    this.#core.heap.checkOpen()
    return !this.#isSettled && this.#core.holdOf(this.id)?.attempt === this.attempt
  }

  #lostError(): JobError {
    const why = this.#isSettled
      ? 'was completed, failed or released already'
      : 'is not held by this process any more: it was removed, or its lease was not renewed in time and another worker has it'
    return new JobError('ERR_AETHER_JOB_LOST', this.#queue, this.id, `job ${this.id} of '${this.#queue}' ${why}`)
  }
}

const NOTHING = new Uint8Array(0)

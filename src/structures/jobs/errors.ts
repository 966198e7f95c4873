import { AetherError } from '../../native/index.ts'

/** A job is not what a call needs it to be; `code` says why. */
export class JobError extends AetherError {
  override readonly name = 'JobError'
  /** The id of the job. */
  readonly job: string
  /** The name of the queue. */
  readonly structure: string

  constructor(
    code: 'ERR_AETHER_JOB_LOST' | 'ERR_AETHER_JOB_FAILED' | 'ERR_AETHER_JOB_NOT_FOUND',
    structure: string,
    job: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.structure = structure
    this.job = job
  }
}

import { UnrecoverableError } from 'bullmq'

/** Why an operation was refused, by the numbers that BullMQ's own backends use (its `ErrorCode`). */
export const Failure = {
  Missing: -1,
  LockMissing: -2,
  NotInState: -3,
  PendingChildren: -4,
  ParentMissing: -5,
  LockMismatch: -6,
  ParentTaken: -7,
  OfScheduler: -8,
  FailedChildren: -9,
  SchedulerCollision: -10,
  SchedulerBusy: -11,
} as const
export type Failure = (typeof Failure)[keyof typeof Failure]

/** What was attempted, for the message. */
export interface Attempted {
  readonly command: string
  readonly jobId?: string | undefined
  readonly parentKey?: string | undefined
  readonly state?: string | undefined
}

/** The error of a refused operation, as BullMQ's own backends have it: programs match its `code`, and its message. */
export function failureError(code: number, attempted: Attempted): Error {
  const message = sentence(code, attempted)
  const error = code === Failure.FailedChildren ? new UnrecoverableError(message) : new Error(message)
  return Object.assign(error, { code })
}

function sentence(code: number, attempted: Attempted): string {
  const { jobId, state, command } = attempted
  return code === Failure.LockMismatch
    ? `Lock mismatch for job ${jobId}. Cmd ${command} from ${state}`
    : `${reason(code, attempted)}. ${command}`
}

function reason(code: number, { jobId, parentKey, state }: Attempted): string {
  switch (code) {
    case Failure.Missing:
      return `Missing key for job ${jobId}`
    case Failure.LockMissing:
      return `Missing lock for job ${jobId}`
    case Failure.NotInState:
      return `Job ${jobId} is not in the ${state} state`
    case Failure.PendingChildren:
      return `Job ${jobId} has pending dependencies`
    case Failure.ParentMissing:
      return `Missing key for parent job ${parentKey}`
    case Failure.ParentTaken:
      return `The parent job ${parentKey} cannot be replaced`
    case Failure.OfScheduler:
      return `Job ${jobId} belongs to a job scheduler and cannot be removed directly`
    case Failure.FailedChildren:
      return `Cannot complete job ${jobId} because it has at least one failed child`
    case Failure.SchedulerCollision:
      return 'Cannot create job scheduler iteration - job ID already exists'
    case Failure.SchedulerBusy:
      return 'Cannot create job scheduler iteration - current and next time slots already have jobs'
    default:
      return `Unknown code ${code} error for ${jobId}`
  }
}

import { AetherError } from '../native/index.ts'
import { explainStatus, statusName } from './status.ts'

/** The errno values that verbs use, as Linux numbers them. */
export const Errno = {
  EPERM: 1,
  ENOENT: 2,
  EAGAIN: 11,
  ENOMEM: 12,
  EFAULT: 14,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  EINVAL: 22,
  EMFILE: 24,
  EOVERFLOW: 75,
  EPROTO: 71,
  EOPNOTSUPP: 95,
  EADDRINUSE: 98,
  ECONNRESET: 104,
  ETIMEDOUT: 110,
  ECONNREFUSED: 111,
  ECANCELED: 125,
} as const

const errnoNames = new Map<number, string>(Object.entries(Errno).map(([name, value]) => [value, name]))

/** `EINVAL`, or the number if it has no name here. */
export function errnoName(errno: number): string {
  return errnoNames.get(errno) ?? `errno ${errno}`
}

/** A verb failed. `verb` is the C function's name, so that its man page can be found. */
export class VerbsError extends AetherError {
  override readonly name: string = 'VerbsError'
  readonly verb: string
  readonly errno: number
  readonly errnoName: string

  constructor(verb: string, errno: number, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_VERBS', `${verb}: ${errnoName(errno)}: ${message}`, options)
    this.verb = verb
    this.errno = errno
    this.errnoName = errnoName(errno)
  }
}

/** `modify` was refused; nothing changed. */
export class TransitionError extends VerbsError {
  override readonly name = 'TransitionError'
  readonly current: string
  readonly wanted: string
  /** Required attributes that were not given. */
  readonly missing: readonly string[]
  /** Given attributes that this transition does not allow. */
  readonly extra: readonly string[]

  constructor(
    current: string,
    wanted: string,
    missing: readonly string[],
    extra: readonly string[],
    legal: boolean,
    options?: ErrorOptions,
  ) {
    const parts = legal ? [] : [`there is no transition from ${current} to ${wanted}`]
    if (missing.length > 0) parts.push(`missing: ${missing.join(', ')}`)
    if (extra.length > 0) parts.push(`not allowed here: ${extra.join(', ')}`)
    super('ibv_modify_qp', Errno.EINVAL, `${current} -> ${wanted}: ${parts.join('; ')}`, options)
    this.current = current
    this.wanted = wanted
    this.missing = missing
    this.extra = extra
  }
}

/**
 * A convenience call (`await pair.read(…)`) ended with a failed completion. The polled path reports the same as a
 * value.
 */
export class CompletionError extends AetherError {
  override readonly name = 'CompletionError'
  readonly operation: string
  readonly status: number
  readonly vendorError: number
  readonly queuePairNumber: number

  constructor(operation: string, status: number, vendorError: number, queuePairNumber: number) {
    super(
      'ERR_AETHER_COMPLETION',
      `${operation} on queue pair ${queuePairNumber} ended with ${statusName(status)}: ${explainStatus(status)}`,
    )
    this.operation = operation
    this.status = status
    this.vendorError = vendorError
    this.queuePairNumber = queuePairNumber
  }
}

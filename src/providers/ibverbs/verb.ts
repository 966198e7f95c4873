import { SystemError, UnsupportedError } from '../../native/index.ts'
import { VerbsError } from '../errors.ts'

const ENOSYS = 38
const EPROTONOSUPPORT = 93
const EOPNOTSUPP = 95

/** True if an errno means that the device, its driver or the library does not support this. */
export function isUnsupported(errno: number): boolean {
  return errno === EOPNOTSUPP || errno === ENOSYS || errno === EPROTONOSUPPORT
}

/** The error for the errno of a verb: UnsupportedError if the device does not support it, otherwise VerbsError. */
export function verbError(
  verb: string,
  errno: number,
  message: string,
  cause?: unknown,
): VerbsError | UnsupportedError {
  const options = cause === undefined ? undefined : { cause }
  if (isUnsupported(errno)) {
    return new UnsupportedError(`${verb}: this device does not support it: ${message}`, options)
  }
  return new VerbsError(verb, errno, message, options)
}

/**
 * Run native calls; their SystemErrors become errors of the verb. `explain` may provide a better sentence for an errno.
 */
export function attempt<T>(call: () => T, explain?: (errno: number) => string | undefined): T {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof SystemError)) throw error
    throw verbError(error.syscall, error.errno, explain?.(error.errno) ?? error.message, error)
  }
}

/** Throw unless `errno` is 0. */
export function check(verb: string, errno: number, message: () => string): void {
  if (errno !== 0) throw verbError(verb, errno, message())
}

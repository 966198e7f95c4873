import { constants } from 'node:os'
import { AetherError, SystemError } from './errors.ts'
import { native } from './native.ts'

/** Node.js numbers errors of its own from 3000 on, such as those of getaddrinfo(3). The kernel's are far below. */
const ERRNO_MAX = 2999
const ENOMEM = 12

/**
 * Return what was thrown as an error of this package. A failed system call of Node.js, or its lack of addresses, is a
 * {@link SystemError} that names the limit to raise. Anything else is returned as it is.
 */
export function systemFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof AetherError) return thrown
  if (/^WebAssembly\.Memory\(\).*memory$/.test(thrown.message)) return failure('mmap', ENOMEM, thrown)
  const [, code] = /^Worker initialization failure: (E\w+)/.exec(thrown.message) ?? []
  if (code !== undefined && code in constants.errno)
    return failure('start a thread', constants.errno[code as keyof typeof constants.errno], thrown)
  const { syscall, errno, path } = thrown as NodeJS.ErrnoException
  if (syscall === undefined || errno === undefined || -errno > ERRNO_MAX) return thrown
  return failure(path === undefined ? syscall : `${syscall} ${path}`, -errno, thrown)
}

/** As {@link systemFailure}, of what `act` throws or rejects with. */
export async function withSystemFailures<T>(act: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw systemFailure(error)
  }
}

function failure(syscall: string, errno: number, cause: Error): SystemError {
  try {
    return native.throwSystemError(syscall, errno)
  } catch (error) {
    if (error instanceof SystemError) error.cause = cause
    return error as SystemError
  }
}

/** Every error code of the package. Match on `code`; messages may be reworded. */
export type AetherErrorCode = `ERR_AETHER_${string}`

/**
 * The base of every error this package throws on purpose. Each layer has one subclass with typed fields. `code` says
 * which condition it is, and the message says what to do next.
 */
export class AetherError extends Error {
  override readonly name: string = 'AetherError'
  readonly code: AetherErrorCode

  constructor(code: AetherErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Something that must hold does not. Going on could corrupt memory, so it is thrown before any is touched. In an agent,
 * the process ends.
 */
export class DefectError extends AetherError {
  override readonly name = 'DefectError'

  constructor(what: string, options?: ErrorOptions) {
    super('ERR_AETHER_DEFECT', `${what}; this is a defect, please report it with the trace`, options)
  }
}

/** An argument that is wrong in any state of the system: its type, range, size or alignment. */
export class ArgumentError extends AetherError {
  override readonly name = 'ArgumentError'
  /** The name of the argument as the caller knows it: `size`, `options.pageSize`, … */
  readonly argument: string

  constructor(argument: string, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_INVALID_ARGUMENT', message, options)
    this.argument = argument
  }
}

/** An object was used after it was closed. */
export class ClosedError extends AetherError {
  override readonly name = 'ClosedError'

  constructor(what: string, options?: ErrorOptions) {
    super('ERR_AETHER_CLOSED', `${what} is closed; open it again before use`, options)
  }
}

/** This machine, kernel, device or provider cannot do what was asked. Found out by trying. */
export class UnsupportedError extends AetherError {
  override readonly name = 'UnsupportedError'

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_AETHER_UNSUPPORTED', message, options)
  }
}

/** A wait ended without what it waited for. The message names what is missing. */
export class TimeoutError extends AetherError {
  override readonly name = 'TimeoutError'

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_AETHER_TIMEOUT', message, options)
  }
}

/** A system call failed. */
export class SystemError extends AetherError {
  override readonly name = 'SystemError'
  /** The system call, named as in its man page. */
  readonly syscall: string
  /** The error number from the kernel. */
  readonly errno: number
  /** Its symbolic name, `ENOMEM`. */
  readonly errnoName: string

  constructor(syscall: string, errno: number, errnoName: string, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_SYSTEM', message, options)
    this.syscall = syscall
    this.errno = errno
    this.errnoName = errnoName
  }
}

/** A file or directory is not safely the caller's own, or the caller may not use it. */
export class AccessError extends AetherError {
  override readonly name = 'AccessError'
  readonly path: string

  constructor(path: string, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_FORBIDDEN', message, options)
    this.path = path
  }
}

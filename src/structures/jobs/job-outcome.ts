import { structured } from '../../codecs/index.ts'
import { messageOfThrown } from '../../native/index.ts'

/** Longer texts of errors are cut: an error is kept with its job. */
const TEXT_LENGTH_MAX = 4096

/** Why an attempt failed. */
export interface JobFailure {
  /** The name of the error's class, or `WorkerLostError` if the worker was killed or did not renew its lease. */
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** The bytes of a value, which belong to the caller. */
export function encodeOwn(value: unknown): Uint8Array {
  return new Uint8Array(structured.encode(value))
}

export function encodeFailure(error: unknown): Uint8Array {
  const { name = 'Error', stack } = (error instanceof Error ? error : {}) as Partial<Error>
  const failure = { name: cut(name), message: cut(messageOfThrown(error)), ...(stack && { stack: cut(stack) }) }
  return encodeOwn(failure)
}

export function encodeLoss(losses: number): Uint8Array {
  const message = `its worker was killed, or did not renew its lease, ${losses === 1 ? 'once' : `${losses} times`}`
  return encodeOwn({ name: 'WorkerLostError', message })
}

/** Undefined if there is nothing. */
export function decodeOutcome(bytes: Uint8Array): unknown {
  return bytes.length === 0 ? undefined : structured.decode(bytes)
}

function cut(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX - 1)}…`
}

import { CommandFault, latin1Of } from '../../index-service/index.ts'

export const syntaxFault = (): CommandFault => new CommandFault('syntax error')

/** @throws CommandFault with this message */
export function integerOf(bytes: Uint8Array, message: string = 'value is not an integer or out of range'): number {
  const text = latin1Of(bytes.subarray(0, 24))
  const value = Number(text)
  if (!/^-?(0|[1-9]\d*)$/.test(text) || !Number.isSafeInteger(value)) throw new CommandFault(message)
  return value
}

/** Which of several words an argument is, in any case; undefined if it is another one. */
export function wordOf<T extends string>(bytes: Uint8Array | undefined, words: readonly T[]): T | undefined {
  if (bytes === undefined || bytes.length > 64) return undefined
  const word = latin1Of(bytes).toLowerCase()
  return words.find((each) => each === word)
}

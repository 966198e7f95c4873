import { Buffer } from 'node:buffer'
import { ArgumentError, messageOfThrown, shown } from '../native/index.ts'
import type { Codec } from './codec.ts'

const decoder = new TextDecoder()

/** @throws ArgumentError if the value has no form in JSON. */
function jsonOf(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new ArgumentError('value', `value must be what JSON can represent: ${messageOfThrown(cause)}`, { cause })
  }
  if (text !== undefined) return text
  throw new ArgumentError('value', `value must be what JSON can represent: not ${shown(value)}`)
}

/** JSON text. Other tools can read it, and for plain objects it is faster than `structured`. */
export const json: Codec<unknown> = {
  name: 'json',
  encode: (value) => Buffer.from(jsonOf(value)),
  decode: (bytes) => JSON.parse(decoder.decode(bytes)),
  keeps: true,
}

import { Buffer } from 'node:buffer'
import { mustBe } from '../native/index.ts'
import type { Codec } from './codec.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Text, as UTF-8. */
export const text: Codec<string> = {
  name: 'text',
  encode(value) {
    if (typeof value !== 'string') throw mustBe('value', "text for the codec 'text'", value)
    return Buffer.from(value)
  },
  decode: (bytes) => decoder.decode(bytes),
  keeps: true,
}

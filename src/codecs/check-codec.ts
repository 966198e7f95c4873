import { ArgumentError, shown } from '../native/index.ts'
import { builtInCodecs } from './built-in-codecs.ts'
import type { Codec } from './codec.ts'

const CODEC_NAME_MAX = 64

/** @throws ArgumentError if it is not a codec. */
export function checkCodec(codec: unknown): asserts codec is Codec<unknown> {
  const { name, encode, decode } = (codec ?? {}) as Partial<Record<keyof Codec<unknown>, unknown>>
  const isNamed = typeof name === 'string' && name.length > 0 && name.length <= CODEC_NAME_MAX
  if (isNamed && typeof encode === 'function' && typeof decode === 'function') return
  const own = `an object with encode, decode and a name of 1 to ${CODEC_NAME_MAX} characters`
  const names = builtInCodecs.map((each) => each.name)
  const known = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  const why = `options.codec must be ${known}, which 'aether-dsm/structures' exports, or ${own}; not ${shown(codec)}`
  throw new ArgumentError('options.codec', why)
}

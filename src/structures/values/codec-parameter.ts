import { bytes, type Codec, json, number, structured } from '../../codecs/index.ts'
import { ArgumentError, shown } from '../../native/index.ts'
import { hashBytes } from '../hash.ts'
import { fixed, type Parameter } from '../parameter.ts'

const CODEC_NAME_MAX = 64

function isCodec(value: unknown): value is Codec<unknown> {
  const { name, encode, decode } = (value ?? {}) as Partial<Record<keyof Codec<unknown>, unknown>>
  const isNamed = typeof name === 'string' && name.length > 0 && name.length <= CODEC_NAME_MAX
  return isNamed && typeof encode === 'function' && typeof decode === 'function'
}

/**
 * A number kept with a structure, so that all processes read its bytes alike. @throws ArgumentError if it is not a
 * codec.
 */
function codecNumber(codec: object): number {
  if (!isCodec(codec)) {
    const own = `an object with encode, decode and a name of 1 to ${CODEC_NAME_MAX} characters`
    const why = `options.codec must be structured, json, number or bytes, which 'aether-dsm/structures' exports, or ${own}; not ${shown(codec)}`
    throw new ArgumentError('options.codec', why)
  }
  const name = Buffer.from(codec.name)
  return hashBytes(name, name.length, 1)
}

const known = new Map([structured, json, number, bytes].map((codec) => [codecNumber(codec), codec as Codec<unknown>]))

/** The codec of this package with this number; undefined for others. */
export function knownCodec(codec: number): Codec<unknown> | undefined {
  return known.get(codec)
}

/** How values become bytes, as a parameter of a structure: all its openers must agree. @throws ArgumentError */
export function codecParameter(codec: object): Parameter {
  const wanted = codecNumber(codec)
  const nameOf = (value: number) =>
    (value === wanted ? (codec as Codec<unknown>) : knownCodec(value))?.name ?? 'of another name'
  return fixed('codec', wanted, nameOf)
}

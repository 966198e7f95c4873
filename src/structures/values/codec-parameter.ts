import { builtInCodecs, type Codec, checkCodec, hashBytes } from '../../codecs/index.ts'
import { fixed, type Parameter } from '../parameter.ts'

/**
 * A number kept with a structure, so that all processes read its bytes alike. @throws ArgumentError if it is not a
 * codec.
 */
function codecNumber(codec: object): number {
  checkCodec(codec)
  const name = Buffer.from(codec.name)
  return hashBytes(name, name.length, 1)
}

const known = new Map(builtInCodecs.map((codec) => [codecNumber(codec), codec]))

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

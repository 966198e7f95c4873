/** The door of this room for other rooms: how values become bytes. RPC and structures export what users import. */

export { builtInCodecs } from './built-in-codecs.ts'
export { bytes } from './bytes.ts'
export { checkCodec } from './check-codec.ts'
export { type Codec, decodeOwn } from './codec.ts'
export { hashBytes, hashText, hashWords } from './hash.ts'
export { json } from './json.ts'
export { number } from './number.ts'
export { structured } from './structured.ts'

import { bytes } from './bytes.ts'
import type { Codec } from './codec.ts'
import { json } from './json.ts'
import { number } from './number.ts'
import { structured } from './structured.ts'

/** The codecs of this package. One that is added here is known where structures and options are checked. */
export const builtInCodecs: readonly Codec<unknown>[] = [structured, json, number, bytes]

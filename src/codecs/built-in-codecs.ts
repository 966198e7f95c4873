import { bytes } from './bytes.ts'
import type { Codec } from './codec.ts'
import { json } from './json.ts'
import { number } from './number.ts'
import { structured } from './structured.ts'

/** The codecs of this package. One is added here, and is then known by its name where structures and options are checked. */
export const builtInCodecs: readonly Codec<unknown>[] = [structured, json, number, bytes]

import { type Play, parsePlays } from './play.ts'
import { directory } from './plays/directory.ts'
import { mesi } from './plays/mesi.ts'
import { moesi } from './plays/moesi.ts'
import { token } from './plays/token.ts'

const texts: ReadonlyMap<string, string> = new Map(Object.entries({ mesi, moesi, directory, token }))
const parsed = new Map<string, readonly Play[]>()

/**
 * The record of a protocol, as last reviewed: for each cell of its tables a path to it, and its effects. Undefined if
 * the protocol has none. `node scripts/protocol-plays.mjs` rewrites it; review the difference.
 */
export function recordedPlays(protocol: string): readonly Play[] | undefined {
  const text = texts.get(protocol)
  if (text === undefined) return undefined
  const plays = parsed.get(protocol) ?? parsePlays(text)
  parsed.set(protocol, plays)
  return plays
}

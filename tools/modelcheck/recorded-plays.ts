import { type Play, parsePlays } from './play.ts'
import { directory } from './plays/directory.ts'
import { mesi } from './plays/mesi.ts'
import { moesi } from './plays/moesi.ts'
import { token } from './plays/token.ts'

const texts: ReadonlyMap<string, string> = new Map(Object.entries({ mesi, moesi, directory, token }))
const parsed = new Map<string, readonly Play[]>()

/**
 * The record of a protocol: for each cell of its tables a way that leads to it, and what comes of it, as it was when
 * somebody last looked at it and found it good. Undefined for a protocol that has none.
 * `node scripts/protocol-plays.mjs` writes it anew; what it changes is there to be reviewed.
 */
export function recordedPlays(protocol: string): readonly Play[] | undefined {
  const text = texts.get(protocol)
  if (text === undefined) return undefined
  const plays = parsed.get(protocol) ?? parsePlays(text)
  parsed.set(protocol, plays)
  return plays
}

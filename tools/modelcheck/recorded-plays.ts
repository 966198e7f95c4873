import { existsSync, readFileSync } from 'node:fs'
import { type Play, parsePlays } from './play.ts'

const parsed = new Map<string, readonly Play[]>()

/**
 * The record of a protocol, `plays/<name>.txt`, as last reviewed: for each cell of its tables a path to it, and its
 * effects. Undefined if the protocol has none. `node scripts/protocol-plays.mjs` rewrites it; review the difference.
 */
export function recordedPlays(protocol: string): readonly Play[] | undefined {
  const file = new URL(`./plays/${protocol}.txt`, import.meta.url)
  if (!parsed.has(protocol) && existsSync(file)) parsed.set(protocol, parsePlays(readFileSync(file, 'utf8')))
  return parsed.get(protocol)
}

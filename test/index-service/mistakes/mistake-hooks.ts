/** Loader hooks: they put a mistake into the room as it is loaded. */
import type { LoadHook } from 'node:module'
import type { IndexMistake } from './mistakes.ts'

export const ROOM = '/src/index-service/room.js'

let mistake: IndexMistake | undefined

export function initialize(given: IndexMistake): void {
  mistake = given
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (mistake === undefined || !url.endsWith(ROOM)) return loaded
  return { ...loaded, source: withMistake(String(loaded.source), mistake) }
}

/** @throws Error unless what it changes is there exactly once. */
export function withMistake(text: string, { name, find, replace }: IndexMistake): string {
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`mistake '${name}': ${find} occurs ${parts.length - 1} times`)
  return parts.join(replace)
}

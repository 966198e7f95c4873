/** Loader hooks of one thread: they change the module that a mistake is in, as it is loaded. */
import type { LoadHook } from 'node:module'
import { type Mistake, ROOM } from './mistakes.ts'

let mistake: Mistake | undefined

export function initialize(given: Mistake): void {
  mistake = given
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (mistake === undefined || !url.endsWith(mistake.module ?? ROOM)) return loaded
  return { ...loaded, source: withMistake(String(loaded.source), mistake) }
}

/** @throws Error unless what it changes is there exactly once. */
export function withMistake(text: string, { name, find, replace, and = [] }: Mistake): string {
  let changed = text
  for (const change of [{ find, replace }, ...and]) {
    const parts = changed.split(change.find)
    if (parts.length !== 2) throw new Error(`mistake '${name}': ${change.find} occurs ${parts.length - 1} times`)
    changed = parts.join(change.replace)
  }
  return changed
}

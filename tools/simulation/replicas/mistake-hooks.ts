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
export function withMistake(text: string, { name, find, replace }: Mistake): string {
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`mistake '${name}': what it replaces occurs ${parts.length - 1} times`)
  return parts.join(replace)
}

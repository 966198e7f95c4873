import type { Data } from '../model/process.ts'

/** True if it is an object in which these names stand for texts. What a Byzantine process writes may be anything. */
export function hasTexts(data: Data, names: readonly string[]): data is { readonly [name: string]: Data } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false
  return names.every((name) => typeof (data as Record<string, Data>)[name] === 'string')
}

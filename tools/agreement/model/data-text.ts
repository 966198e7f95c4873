import type { Data } from './process.ts'

/** How deep values are nested at most. What algorithms say is much flatter. */
const DEPTH_MAX = 64

/**
 * What the text of another process says, in JSON; undefined if no correct process would have put it like that. Texts of
 * liars are held to what correct processes write:
 *
 * - One nested thousands deep overflows the stack of each process that puts it into a text again.
 * - One with a field `__proto__` is another value once it was copied.
 * - One that is shorter than the same value as `JSON.stringify` has it fits a register that a copy of it does not fit.
 */
export function parseData(text: string): Data | undefined {
  let data: Data
  try {
    data = JSON.parse(text) as Data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return isPlain(data) && JSON.stringify(data) === text ? data : undefined
}

/** True if others will take it for what it is. */
export function isPlain(data: Data, depth: number = DEPTH_MAX): boolean {
  if (typeof data !== 'object' || data === null) return true
  if (depth === 0 || Object.hasOwn(data, '__proto__')) return false
  return Object.values(data).every((each) => isPlain(each as Data, depth - 1))
}

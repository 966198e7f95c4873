import { ArgumentError } from '../../native/index.ts'

/** Default for the most objects that one section changes. */
export const OBJECTS_DEFAULT = 30
const OBJECTS_MAX = 2000
/** The attempt from which on missing memory is an error. */
export const MEMORY_ATTEMPTS = 5
/** The longest pause before another attempt. */
const PAUSE_MS_MAX = 8

/** Options of a section. */
export interface SectionOptions {
  /** The most objects that it locks and makes: 1 to 2000. Default 30. */
  readonly objectsMax?: number
}

/** @throws ArgumentError */
export function checkSection(objectsMax: number): void {
  if (Number.isSafeInteger(objectsMax) && objectsMax >= 1 && objectsMax <= OBJECTS_MAX) return
  const rule = `options.objectsMax must be a whole number from 1 to ${OBJECTS_MAX}`
  throw new ArgumentError('options.objectsMax', `${rule}, not ${objectsMax}`)
}

/** From one attempt to the next: longer with each, and never the same for two. `random`: from 0 to 1. */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(PAUSE_MS_MAX, 2 ** attempt / 4)
}

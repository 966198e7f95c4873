import { checkOptions, checkWhole, type OptionNames } from '../../native/index.ts'

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

const sectionNames: OptionNames<SectionOptions> = { objectsMax: true }

/** @throws ArgumentError */
export function checkSection(options: SectionOptions | undefined): void {
  checkOptions('readLock', options, sectionNames)
  checkObjects(options?.objectsMax)
}

/** @throws ArgumentError */
export function checkObjects(objectsMax: number = OBJECTS_DEFAULT): void {
  checkWhole('options.objectsMax', objectsMax, 1, OBJECTS_MAX)
}

/** From one attempt to the next: longer with each, and never the same for two. `random`: from 0 to 1. */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(PAUSE_MS_MAX, 2 ** attempt / 4)
}

/**
 * What an agent shows of its coherent regions while a watcher is there, written and read. It holds page states, the
 * messages of each link, and what happened to each page. It is kept in a memory object beside the arena, which
 * `src/dashboard` reads.
 */
export { Journal } from './journal.ts'
export {
  EventKind,
  OPERATIONS_MAX,
  PAGE_ENTRY_BYTES,
  PAGES_PER_BLOCK,
  WAIT_PARTS,
  waitPartBegin,
} from './journal-layout.ts'
export {
  countOf,
  type JournalLink,
  type JournalOperations,
  type JournalPage,
  JournalReader,
  type JournalRegion,
  pageIn,
  type ReadEvent,
  waitsOf,
} from './journal-reader.ts'
export { Observation } from './observation.ts'
export type { RegionFacts } from './region-sheet.ts'
export { RegionWatch, type RegionWatchers } from './region-watch.ts'

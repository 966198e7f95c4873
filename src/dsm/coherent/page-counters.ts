import { type CounterLayout, defineCounters } from '../../profiling/index.ts'

/** What an agent counts about the pages of its process. */
export const pageCounters: CounterLayout<
  | 'readFaults'
  | 'writeFaults'
  | 'demands'
  | 'pagesReceived'
  | 'bytesReceived'
  | 'pagesSent'
  | 'bytesSent'
  | 'messagesSent'
  | 'invalidations'
  | 'downgrades'
  | 'holds'
  | 'evictions'
  | 'prefetches'
> = defineCounters('dsm.pages', [
  'readFaults',
  'writeFaults',
  'demands',
  'pagesReceived',
  'bytesReceived',
  'pagesSent',
  'bytesSent',
  'messagesSent',
  'invalidations',
  'downgrades',
  'holds',
  'evictions',
  'prefetches',
])

/** Name of the histogram of how long a thread waited for a page, in nanoseconds. Declared, so that readers know it by name. */
export const FAULT_HISTOGRAM: string = defineCounters('dsm.fault', []).name

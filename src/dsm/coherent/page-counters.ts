import { type CounterLayout, defineCounters, defineHistogram } from '../../profiling/index.ts'

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
> = defineCounters(
  'dsm.pages',
  [
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
  ],
  {
    labelled: 'region',
    help: {
      '': 'Pages of a coherent region at a rank, as its agent sees them.',
      readFaults: 'Page faults of loads.',
      writeFaults: 'Page faults of stores.',
      demands: 'Pages requested from the agent, by faults and explicit calls.',
      pagesReceived: 'Pages received from other ranks.',
      bytesReceived: 'Bytes of the pages received.',
      pagesSent: 'Pages sent to other ranks.',
      bytesSent: 'Bytes of the pages sent.',
      messagesSent: 'Messages of the coherence protocol to other ranks.',
      invalidations: 'Pages taken away for a writer elsewhere.',
      downgrades: 'Writable pages that became read-only for a reader elsewhere.',
      holds: 'Requests of other ranks that waited because a page had just been granted here.',
      evictions: 'Pages evicted to stay within the memory limit.',
      prefetches: 'Pages requested ahead of their use.',
    },
  },
)

/** How long a thread waited for a page, in nanoseconds. Declared, so that readers know it by name. */
export const faultHistogram: CounterLayout = defineHistogram('dsm.fault', {
  labelled: 'region',
  help: 'From a page fault, or an explicit call that has to wait, to the arrival of the page.',
})

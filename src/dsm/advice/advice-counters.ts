import { type CounterLayout, defineCounters } from '../../profiling/index.ts'

/** What an agent counts of regions with `advise`. */
export const adviceCounters: CounterLayout<'bouncing' | 'bounces' | 'twins'> = defineCounters(
  'dsm.advice',
  ['bouncing', 'bounces', 'twins'],
  {
    labelled: 'region',
    help: {
      '': 'Pages that bounce between ranks, in a region opened with `advise`.',
      bouncing: 'Times a page was found to bounce.',
      bounces: 'Times such pages were taken away from this rank since.',
      twins: 'Times such a page was copied, to see what is written in it.',
    },
  },
)

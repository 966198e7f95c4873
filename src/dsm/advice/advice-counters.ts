import { type CounterLayout, defineCounters } from '../../profiling/index.ts'

/** What an agent counts of regions with `advise`. */
export const adviceCounters: CounterLayout<'bouncing' | 'bounces' | 'twins'> = defineCounters(
  'dsm.advice',
  ['bouncing', 'bounces', 'twins'],
  {
    labelled: 'region',
    help: {
      '': 'Pages that bounce between ranks, of a region that is open with `advise`.',
      bouncing: 'How often a page was found to be taken away from here again and again.',
      bounces: 'How often such pages were taken away from here since.',
      twins: 'How often such a page was copied, to see what is written in it.',
    },
  },
)

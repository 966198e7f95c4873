import { type CounterLayout, defineCounters } from '../../profiling/index.ts'

/** The region that holds structures unless another is named. */
export const DEFAULT_REGION = 'structures'

export type StructureCounter = 'reads' | 'writes' | 'evictions' | 'expirations' | 'waiting'

/**
 * What a member does with one structure. Always counted: a count is one addition in this thread's own memory, and the
 * question "who uses this map?" comes up in programs that were started without `AETHER_PROFILE`.
 */
export const structureCounters: CounterLayout<StructureCounter> = defineCounters(
  'structures',
  ['reads', 'writes', 'evictions', 'expirations', 'waiting'],
  {
    gauges: ['waiting'],
    labelled: 'kind,structure',
    help: {
      '': 'What members do with structures of a space, by kind and name.',
      reads: 'Calls that only look: get, has, isRaised, read, dereference, sections that change nothing.',
      writes: 'Calls that may change something, whether or not they did: set, push, pop, append, lock, take.',
      evictions: 'Entries removed to keep to a bound, or because memory was short.',
      expirations: 'Entries of maps removed because their time to live was over.',
      waiting: 'Calls that wait: for a lock, a permit, a value, room, a flag.',
    },
  },
)

/**
 * The label of a structure's counters: kind, then name. Words of a kind are joined, so that the first space ends it. A
 * structure in another region than the default one has that region's name before its own.
 */
export function structureLabel(region: string, kind: string, name: string): string {
  const place = region === DEFAULT_REGION ? '' : `${region}/`
  return `${kind.replaceAll(' ', '-')} ${place}${name}`
}

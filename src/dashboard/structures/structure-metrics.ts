import {
  type CounterLayout,
  defineCounters,
  type MetricSource,
  Profile,
  type ProfileJson,
} from '../../profiling/index.ts'
import { structureLabel } from '../../structures/index.ts'
import type { SeenStructures } from './observed-structures.ts'

/** What is in structures, read by the server of the metrics: members count only what they do (`structures`). */
const contentGauges: CounterLayout<'entries' | 'bytes'> = defineCounters('structures.content', ['entries', 'bytes'], {
  gauges: ['entries', 'bytes'],
  labelled: 'kind,structure',
  help: {
    '': 'What is in structures of a space, read from outside by `aether dashboard`.',
    entries: 'Entries of a map or cell, values of a queue or stack, records of a log or channel.',
    bytes: 'Bytes of its blocks; estimated from a sample if it has many.',
  },
})

const memoryGauges: CounterLayout<'bytesUsed' | 'bytesCapacity'> = defineCounters(
  'structures.memory',
  ['bytesUsed', 'bytesCapacity'],
  {
    gauges: ['bytesUsed', 'bytesCapacity'],
    labelled: 'region',
    help: {
      '': 'Memory of the structures of a region, read from outside by `aether dashboard`.',
      bytesUsed: 'Bytes of blocks in use, or that readers may still use; estimated from a sample if there are many.',
      bytesCapacity: 'Bytes that all blocks can have in total.',
    },
  },
)

/** Figures of structures that no member counts, as gauges. A figure that is not known is left out. */
export function structureSource(space: string, { structures, memory }: SeenStructures): MetricSource {
  const counters = [
    ...structures.map(({ region, kind, name, entries, bytes }) =>
      block(contentGauges, structureLabel(region, kind, name), { entries, bytes }),
    ),
    ...memory
      .filter(({ isOther }) => !isOther)
      .map(({ region, usedBytes, sizeBytes }) =>
        block(memoryGauges, region, { bytesUsed: usedBytes, bytesCapacity: sizeBytes }),
      ),
  ].map((each, serial) => ({ ...each, serial: serial + 1 }))
  return {
    profile: Profile.fromJSON({ version: 1, unplaced: 0, counters, histograms: [], findings: [] }),
    labels: { space },
  }
}

function block<Name extends string>(
  { name, labelled }: CounterLayout<Name>,
  label: string,
  figures: Readonly<Record<Name, number | null>>,
): Omit<ProfileJson['counters'][number], 'serial'> {
  const known = Object.entries<number | null>(figures).filter((entry): entry is [string, number] => entry[1] !== null)
  const names = known.map(([counter]) => counter)
  return {
    name,
    label,
    labelled,
    spread: '',
    rest: false,
    thread: 0,
    gauges: names,
    names,
    values: Object.fromEntries(known),
  }
}

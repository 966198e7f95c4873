import { type CounterBlock, type CounterLayout, defineCounters, threadProfiling } from '../../profiling/index.ts'
import type { AxisDivision, Division } from '../partitions/partition.ts'
import { DTYPES, type DTypeName } from '../types/dtype.ts'

/** Axes beyond these are not shown. */
const AXES_SHOWN = 4

const extents = ['extent0', 'extent1', 'extent2', 'extent3'] as const
const divisions = ['division0', 'division1', 'division2', 'division3'] as const
const gauges: readonly ArrayFigure[] = [
  'dtype',
  'axes',
  ...extents,
  ...divisions,
  'ranks',
  'place',
  'elements',
  'bytes',
]

type ArrayFigure =
  | 'dtype'
  | 'axes'
  | (typeof extents)[number]
  | (typeof divisions)[number]
  | 'ranks'
  | 'place'
  | 'elements'
  | 'bytes'

export const arrayCounters: CounterLayout<ArrayFigure> = defineCounters('array', gauges, {
  gauges,
  labelled: 'array',
  help: {
    '': 'Arrays that have a name, as each rank has them.',
    dtype: 'The data type: its place in the list of them, from bool (0) on.',
    axes: 'How many axes it has.',
    ...Object.fromEntries(extents.map((name, axis) => [name, `The extent of axis ${axis}.`])),
    ...Object.fromEntries(
      divisions.map((name, axis) => [
        name,
        `How axis ${axis} is divided: 0 not at all, 1 block, 2 cyclic, above 2 cyclic by blocks of 2 less.`,
      ]),
    ),
    ranks: 'Among how many ranks it is divided.',
    place: 'Which of them this rank is, from 0 on.',
    elements: 'Elements that this rank has.',
    bytes: 'The memory that these take.',
  },
})

/** What a rank shows of an array. */
export interface ShownArray {
  readonly dtype: DTypeName
  readonly shape: readonly number[]
  readonly partition: Division
  readonly ranks: readonly number[]
  readonly rank: number
  /** In the part of this rank. */
  readonly elements: number
}

/** Shows in the memory of its process how a named array is divided, for those who look from outside. */
export class ArrayMeter {
  readonly #block: CounterBlock<ArrayFigure>

  constructor(name: string, { dtype, shape, partition, ranks, rank, elements }: ShownArray) {
    this.#block = threadProfiling().counters(arrayCounters, name)
    const figures: Partial<Record<ArrayFigure, number>> = {
      dtype: Object.keys(DTYPES).indexOf(dtype),
      axes: shape.length,
      ranks: ranks.length,
      place: ranks.indexOf(rank),
      elements,
      bytes: elements * DTYPES[dtype].bytes,
    }
    for (const [axis, extent] of shape.slice(0, AXES_SHOWN).entries()) {
      figures[extents[axis]!] = extent
      figures[divisions[axis]!] = numberOf(
        Array.isArray(partition) ? partition[axis] : axis === 0 ? partition : undefined,
      )
    }
    for (const [name_, value] of Object.entries(figures)) this.#block.set(name_ as ArrayFigure, value)
  }

  close(): void {
    this.#block.close()
  }
}

/** What {@link ArrayMeter} shows, as it is read. */
export interface SeenArray {
  readonly dtype: DTypeName
  readonly shape: readonly number[]
  readonly partition: readonly AxisDivision[]
  readonly axes: number
  readonly ranks: number
  readonly place: number
  readonly elements: number
  readonly bytes: number
}

export function seenArray(values: Readonly<Record<string, number>>): SeenArray {
  const of = (figure: ArrayFigure): number => values[figure] ?? 0
  const shown = Math.min(of('axes'), AXES_SHOWN)
  return {
    dtype: (Object.keys(DTYPES)[of('dtype')] ?? 'float64') as DTypeName,
    shape: extents.slice(0, shown).map(of),
    partition: divisions.slice(0, shown).map((name) => divisionOf(of(name))),
    axes: of('axes'),
    ranks: of('ranks'),
    place: of('place'),
    elements: of('elements'),
    bytes: of('bytes'),
  }
}

function numberOf(division: AxisDivision = 'replicated'): number {
  if (typeof division === 'object') return division.blockCyclic === 1 ? 2 : division.blockCyclic + 2
  return ['replicated', 'block', 'cyclic'].indexOf(division)
}

function divisionOf(number: number): AxisDivision {
  return (['replicated', 'block', 'cyclic'] as const)[number] ?? { blockCyclic: number - 2 }
}

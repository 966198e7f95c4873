import { arrayCounters, divide, movedCounters, ownerAt, seenArray } from '../arrays/index.ts'
import type { SeenMember } from './operation-rates.ts'
import type { ArrayFrame, ArraysFrame, MachineFrame } from './wire.ts'

/** The picture of an array has at most as many cells. */
const ROWS_MAX = 32
const COLUMNS_MAX = 64
/** Of an index that no member shown has, and of one that all have. */
const NONE = -1
const ALL = -2

type Member = Pick<SeenMember, 'number' | 'profile'>

/** Turns what ranks show of their named arrays into pictures of them. */
export class ArrayLooks {
  #machines: readonly MachineFrame[] | undefined
  #frame: ArraysFrame = { arrays: [], moved: [] }

  /** The same frame as before until there are newer machines. */
  next(members: readonly Member[], machines: readonly MachineFrame[]): ArraysFrame {
    if (machines === this.#machines) return this.#frame
    this.#machines = machines
    const parts = new Map<string, { readonly number: number; readonly seen: ReturnType<typeof seenArray> }[]>()
    const moved: { number: number; bytes: number; exchanges: number }[] = []
    for (const { number, profile } of members) {
      const sum = { number, bytes: 0, exchanges: 0 }
      for (const { name, label, values, rest } of profile.counters()) {
        if (name === movedCounters.name) {
          sum.bytes += values['bytes'] ?? 0
          sum.exchanges += values['exchanges'] ?? 0
        } else if (name === arrayCounters.name && !rest)
          parts.set(label, [...(parts.get(label) ?? []), { number, seen: seenArray(values) }])
      }
      if (sum.bytes > 0) moved.push(sum)
    }
    const arrays = [...parts].map(([name, each]) => frameOf(name, each))
    arrays.sort((one, other) => (one.name < other.name ? -1 : 1))
    this.#frame = { arrays, moved: moved.sort((one, other) => one.number - other.number) }
    return this.#frame
  }
}

function frameOf(
  name: string,
  shown: readonly { readonly number: number; readonly seen: ReturnType<typeof seenArray> }[],
): ArrayFrame {
  const parts = shown.toSorted((one, other) => one.seen.place - other.seen.place)
  const { dtype, shape, partition, axes, ranks } = parts[0]!.seen
  const numbers = Array.from({ length: ranks }, (_, place) => parts.find(({ seen }) => seen.place === place)?.number)
  return {
    name,
    dtype,
    shape,
    axes,
    partition: partition.map((each) => (typeof each === 'object' ? `blockCyclic ${each.blockCyclic}` : each)),
    cells: cellsOf(shape, partition, numbers),
    parts: parts.map(({ number, seen: { elements, bytes } }) => ({ number, elements, bytes })),
  }
}

/** Which member has the elements, over the first two axes, at the first index of the others. */
function cellsOf(
  shape: readonly number[],
  partition: ReturnType<typeof seenArray>['partition'],
  numbers: readonly (number | undefined)[],
): number[][] {
  if (shape.length === 0 || shape.includes(0)) return []
  const divided = divide(
    shape,
    partition,
    numbers.map((_, place) => place),
  )
  const [first = 1, second = 1] = shape
  const isRow = shape.length === 1
  const [rows, columns] = isRow
    ? [1, Math.min(first, COLUMNS_MAX)]
    : [Math.min(first, ROWS_MAX), Math.min(second, COLUMNS_MAX)]
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => {
      if (divided.isReplicated) return ALL
      const at = (cell: number, cells: number, extent: number): number => Math.floor(((cell + 0.5) * extent) / cells)
      const indices = shape.map((_extent, axis) => {
        if (axis > 1 || (isRow && axis > 0)) return 0
        return isRow || axis === 1 ? at(column, columns, isRow ? first : second) : at(row, rows, first)
      })
      return numbers[ownerAt(divided, indices)] ?? NONE
    }),
  )
}

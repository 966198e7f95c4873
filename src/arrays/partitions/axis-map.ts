/**
 * Where the positions of an axis of a result come from: position `into + k` from index `from + k * step` of the source,
 * for every k below `count`. A step of 0 repeats one index, a negative one turns the order over. No position is in two
 * runs; a map may leave some out, which come from elsewhere.
 */
export interface MappedRun {
  readonly into: number
  readonly from: number
  readonly count: number
  readonly step: number
}

export type AxisMap = readonly MappedRun[]

/** Neighbours stay neighbours: those from `from` on are at `into` and after. */
export function shiftedMap(count: number, from: number, into: number): AxisMap {
  return [{ into, from, count, step: 1 }]
}

/** A slice, of any step. */
export function slicedMap({ start, count, step }: { start: number; count: number; step: number }): AxisMap {
  return [{ into: 0, from: start, count, step }]
}

/** What leaves the axis at its end comes back at its start. */
export function rolledMap(extent: number, shift: number): AxisMap {
  const cut = extent === 0 ? 0 : ((shift % extent) + extent) % extent
  return [...shiftedMap(cut, extent - cut, 0), ...shiftedMap(extent - cut, 0, cut)]
}

/** The whole axis several times. */
export function tiledMap(extent: number, times: number): AxisMap {
  if (extent === 1) return [{ into: 0, from: 0, count: times, step: 0 }]
  return Array.from({ length: times }, (_, turn) => ({ into: turn * extent, from: 0, count: extent, step: 1 }))
}

/** Each index as often as asked for. */
export function repeatedMap(times: readonly number[]): AxisMap {
  let into = 0
  return times.map((count, from) => {
    const run = { into, from, count, step: 0 }
    into += count
    return run
  })
}

/** Single indices, of which those at even distances are one run. */
export function pickedMap(indices: ArrayLike<number>): AxisMap {
  const runs: { into: number; from: number; count: number; step: number }[] = []
  let last: (typeof runs)[number] | undefined
  for (let into = 0; into < indices.length; into += 1) {
    const from = indices[into]!
    if (last?.count === 1) last.step = from - last.from
    if (last !== undefined && from === last.from + last.count * last.step) last.count += 1
    else {
      last = { into, from, count: 1, step: 1 }
      runs.push(last)
    }
  }
  return runs
}

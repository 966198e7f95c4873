/** Passes after which a range is sorted, so that no order of the values makes selecting slow. */
const PASSES_MAX = 64
/** A range of fewer values is sorted at once. */
const SMALL = 32

/**
 * Moves values so that those at the given places, in rising order, are what sorting would put there. This is Hoare's
 * FIND (CACM 4, 1961). There is no NaN among the values.
 */
export function selectPlaces(values: Float64Array, places: readonly number[]): void {
  let from = 0
  for (const place of places) {
    selectPlace(values, place, from)
    from = place
  }
}

function selectPlace(values: Float64Array, place: number, from: number): void {
  let left = from
  let right = values.length - 1
  for (let pass = 0; left < right; pass += 1) {
    if (right - left < SMALL || pass === PASSES_MAX) {
      values.subarray(left, right + 1).sort()
      return
    }
    const pivot = medianOfThree(values[left]!, values[(left + right) >>> 1]!, values[right]!)
    let low = left
    let high = right
    while (low <= high) {
      while (values[low]! < pivot) low += 1
      while (values[high]! > pivot) high -= 1
      if (low > high) break
      const kept = values[low]!
      values[low] = values[high]!
      values[high] = kept
      low += 1
      high -= 1
    }
    // All up to `high` is at most the pivot, all from `low` on at least; what lies between is the pivot.
    if (place <= high) right = high
    else if (place >= low) left = low
    else return
  }
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}

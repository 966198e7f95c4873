/** Below 0 if `one` comes before `other`, above 0 if it comes after it, 0 if they are the same key. */
export type Comparison<Key> = (one: Key, other: Key) => number

/** How many of these keys, which are in order, come before `key`. */
export function countBefore<Key>(keys: readonly Key[], key: Key, compare: Comparison<Key>): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(keys[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** How many of these keys, which are in order, do not come after `key`. */
export function countUpTo<Key>(keys: readonly Key[], key: Key, compare: Comparison<Key>): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(keys[middle]!, key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

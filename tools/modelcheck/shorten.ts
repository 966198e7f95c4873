/**
 * Leaves parts out of a sequence, large parts first. `attempt` returns what it needs of the rest, which may be less, or
 * undefined if the rest is not enough. From the result, no single element can be left out.
 */
export function shortened<T>(
  items: readonly T[],
  attempt: (shorter: readonly T[]) => readonly T[] | undefined,
): readonly T[] {
  let left = items
  let size = Math.ceil(items.length / 2)
  for (;;) {
    const before = left.length
    for (let at = left.length - size; at > -size; at -= size) {
      const enough = attempt([...left.slice(0, Math.max(0, at)), ...left.slice(at + size)])
      if (enough !== undefined && enough.length < left.length) {
        left = enough
        at = Math.min(at, left.length)
      }
    }
    if (size > 1) size = Math.ceil(size / 2)
    // Once more with single ones, until none of them can go.
    else if (left.length === before) return left
  }
}

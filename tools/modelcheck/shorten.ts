/**
 * Leaves parts out of a sequence, large ones first, as long as `attempt` can make do with what is left: it returns what
 * it needs of that, which may be less, or undefined. Of what comes out nothing more can be left out singly.
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

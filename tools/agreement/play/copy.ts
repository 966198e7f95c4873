/**
 * A copy of plain data and of objects with plain fields, which keep their classes. What is there twice is there twice
 * in the copy. Strings and numbers are shared, as they do not change.
 */
export function copyOf<T>(value: T): T {
  return copied(value, new Map()) as T
}

function copied(value: unknown, known: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const before = known.get(value)
  if (before !== undefined) return before
  if (Array.isArray(value)) {
    const copy: unknown[] = new Array<unknown>(value.length)
    known.set(value, copy)
    for (let index = 0; index < value.length; index += 1) copy[index] = copied(value[index], known)
    return copy
  }
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>
  known.set(value, copy)
  const fields = value as Record<string, unknown>
  for (const name in fields) copy[name] = copied(fields[name], known)
  return copy
}

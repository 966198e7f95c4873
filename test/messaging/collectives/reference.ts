import type { ElementArray, ElementKind } from '../../../src/messaging/collectives/element-kind.ts'
import type { Kernel } from '../../../src/messaging/collectives/operation.ts'

/** A collective's results written down the plain way, over arrays of numbers or bigints. */

export type Value = number | bigint
export type Vector = readonly Value[]

/** Where each part begins. */
export function offsetsOf(counts: readonly number[]): number[] {
  return counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0))
}

/** ((x0 op x1) op x2) op …, element by element, rounded or wrapped as the kind does after each step. */
export function foldLeft(vectors: readonly Vector[], kind: ElementKind, kernel: Kernel): Value[] {
  const sum = arrayOf(kind, vectors[0]!)
  for (const vector of vectors.slice(1)) kernel(sum, 0, arrayOf(kind, vector), 0, vector.length, false)
  return valuesOf(sum)
}

export function arrayOf(kind: ElementKind, values: Vector): ElementArray {
  const array = kind.allocate(values.length)
  array.set(values as never)
  return array
}

export function valuesOf(array: ElementArray): Value[] {
  return [...(array as Iterable<Value>)]
}

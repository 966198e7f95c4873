import type { ElementArray, ElementKind } from '../../src/collectives/element-kind.ts'
import type { OperationName } from '../../src/collectives/operation.ts'
import { ownOperations, type Value } from './own-operations.ts'

/** A collective's results written down the plain way, over arrays of numbers or bigints. */

export type { Value }
export type Vector = readonly Value[]

/** Where each part begins. */
export function offsetsOf(counts: readonly number[]): number[] {
  return counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0))
}

/** ((x0 op x1) op x2) op …, element by element, rounded or wrapped as the kind does after each step. */
export function foldLeft(vectors: readonly Vector[], kind: ElementKind, operation: OperationName): Value[] {
  const combine = ownOperations[kind.name][operation]!
  const [first, ...others] = vectors as [Vector, ...Vector[]]
  return first.map((value, index) => others.reduce<Value>((sum, vector) => combine(sum, vector[index]!), value))
}

export function arrayOf(kind: ElementKind, values: Vector): ElementArray {
  const array = kind.allocate(values.length)
  array.set(values as never)
  return array
}

export function valuesOf(array: ElementArray): Value[] {
  return [...(array as Iterable<Value>)]
}

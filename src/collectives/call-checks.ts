import { ArgumentError, mustBe } from '../native/index.ts'
import { type ElementArray, type ElementKind, elementKindOf } from './element-kind.ts'
import type { Shape } from './shape.ts'

export function partsOf(
  { size }: Shape,
  counts: readonly number[] | undefined,
  each: number,
): { readonly counts: readonly number[]; readonly total: number; readonly text: string } {
  if (counts === undefined) return { counts: Array<number>(size).fill(each), total: each * size, text: `${each} each` }
  if (!Array.isArray(counts) || counts.length !== size || !counts.every(isCount))
    throw new ArgumentError('counts', `counts must have ${size} lengths, one for each rank, the same at every rank`)
  const isEven = counts.every((count) => count === counts[0])
  // Said alike whether a rank names the lengths or not.
  const text = isEven ? `${counts[0]} each` : counts.join('+')
  return { counts, total: counts.reduce((sum, count) => sum + count, 0), text }
}

export function checkParts(
  { size }: Shape,
  what: 'send' | 'receive',
  counts: readonly number[],
  offsets: readonly number[],
  length: number,
): void {
  const fits = (count: number, part: number) =>
    isCount(count) && isCount(offsets[part]) && offsets[part]! + count <= length
  if (counts.length === size && offsets.length === size && counts.every(fits)) return
  throw new ArgumentError(
    `${what}Counts`,
    `${what}Counts and ${what}Offsets must have a number for each of ${size} ranks, and no part may go beyond the array's ${length} elements`,
  )
}

/** If two parts overlapped, the result would depend on which came last. */
export function checkDisjoint(counts: readonly number[], offsets: readonly number[]): void {
  const parts = counts
    .map((count, rank) => ({ from: offsets[rank]!, to: offsets[rank]! + count }))
    .filter(({ from, to }) => to > from)
    .sort((one, other) => one.from - other.from)
  for (let part = 1; part < parts.length; part += 1)
    if (parts[part]!.from < parts[part - 1]!.to)
      throw new ArgumentError(
        'receiveOffsets',
        'received parts must not share elements of output; change receiveOffsets',
      )
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function checkRank({ size }: Shape, root: number): void {
  if (!(isCount(root) && root < size)) throw mustBe('root', `a rank from 0 to ${size - 1}`, root)
}

export function checkLength(argument: string, array: ElementArray, length: number): void {
  if (array.length === length) return
  throw new ArgumentError(argument, `${argument} must have ${length} elements here, not ${array.length}`)
}

export function checkSame(array: ElementArray | undefined, kind: ElementKind, argument: string): ElementArray {
  if (array === undefined)
    throw new ArgumentError(argument, `${argument} is missing; the root must pass it, and this rank is the root`)
  const own = elementKindOf(array, argument)
  if (own === kind) return array
  throw new ArgumentError(
    argument,
    `${argument} has elements of ${own.name}, but the other array has ${kind.name}; use the same kind for both`,
  )
}

/** In place means: `inner` is exactly that part of `outer`. Otherwise they share no byte. */
export function checkApart(outer: ElementArray, inner: ElementArray, offsetBytes: number): void {
  if (!shareBytes(outer, inner) || inner.byteOffset - outer.byteOffset === offsetBytes) return
  throw new ArgumentError(
    'output',
    'input and output share memory in a way this collective does not support; use separate arrays',
  )
}

export function shareBytes(one: ElementArray, other: ElementArray): boolean {
  if (one.buffer !== other.buffer || one.byteLength === 0 || other.byteLength === 0) return false
  const from = other.byteOffset - one.byteOffset
  return from + other.byteLength > 0 && from < one.byteLength
}

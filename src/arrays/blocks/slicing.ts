import { inspect } from 'node:util'
import { ArrayError } from '../errors.ts'
import type { Block } from './block.ts'

/**
 * What takes part of an axis, or adds one. An integer takes one element, and its axis goes. `[start, stop, step]` takes
 * a slice; a bound that is open is missing or null. null adds an axis. `'...'` stands for all axes that no other item
 * names.
 */
export type IndexItem = number | bigint | SliceItem | null | '...'
type SliceItem = readonly [start?: SliceBound, stop?: SliceBound, step?: SliceBound]
type SliceBound = number | bigint | null | undefined

/** What an index does to the axes of an array, in the order of the result. */
export type Selection =
  | { readonly kind: 'one'; readonly axis: number; readonly position: number }
  | {
      readonly kind: 'slice'
      readonly axis: number
      readonly start: number
      readonly count: number
      readonly step: number
    }
  | { readonly kind: 'new' }

/** The selections for items and a shape. Axes that no item names are whole. @throws ArrayError */
export function selectionsOf(items: readonly IndexItem[], shape: readonly number[]): Selection[] {
  const named = items.filter((item) => item !== null && item !== '...').length
  if (items.filter((item) => item === '...').length > 1)
    throw new ArrayError('INDEX', "an index can only have a single ellipsis ('...')")
  if (named > shape.length) throw tooMany(shape.length, named)
  const selections: Selection[] = []
  let axis = 0
  const wholeUntil = (end: number): void => {
    for (; axis < end; axis += 1) selections.push({ kind: 'slice', axis, start: 0, count: shape[axis]!, step: 1 })
  }
  for (const item of items) {
    if (item === null) selections.push({ kind: 'new' })
    else if (item === '...') wholeUntil(axis + shape.length - named)
    else {
      const extent = shape[axis]!
      selections.push(
        Array.isArray(item)
          ? { kind: 'slice', axis, ...sliceOf(item as SliceItem, extent) }
          : { kind: 'one', axis, position: positionOf(item as number | bigint, extent, axis) },
      )
      axis += 1
    }
  }
  wholeUntil(shape.length)
  return selections
}

export function tooMany(axes: number, given: number): ArrayError {
  return new ArrayError('INDEX', `too many indices for array: array is ${axes}-dimensional, but ${given} were indexed`)
}

/** The index counted from 0; a negative one counts from the end. @throws ArrayError */
export function positionOf(index: number | bigint, extent: number, axis: number): number {
  const position = wholeOf(index)
  if (position === undefined) {
    const shown = inspect(index, { depth: 0 })
    throw new ArrayError('INDEX', `${shown} is no index; use integers, [start, stop, step], null or '...'`)
  }
  if (position < -extent || position >= extent)
    throw new ArrayError('INDEX', `index ${index} is out of bounds for axis ${axis} with size ${extent}`)
  return position < 0 ? position + extent : position
}

/** Which elements of an axis a slice takes. What lies outside of the axis is left out, as in Python. */
function sliceOf(
  [from, to, by]: SliceItem,
  extent: number,
): { readonly start: number; readonly count: number; readonly step: number } {
  const step = boundOf(by) ?? 1
  if (step === 0) throw new ArrayError('VALUE', 'slice step cannot be zero')
  const [least, most] = step > 0 ? [0, extent] : [-1, extent - 1]
  const clamp = (bound: number): number => Math.min(most, Math.max(least, bound < 0 ? bound + extent : bound))
  const first = boundOf(from)
  const end = boundOf(to)
  const start = first === undefined ? (step > 0 ? least : most) : clamp(first)
  const stop = end === undefined ? (step > 0 ? most : least) : clamp(end)
  return { start, count: Math.max(0, Math.ceil((stop - start) / step)), step }
}

function boundOf(bound: SliceBound): number | undefined {
  if (bound === undefined || bound === null) return undefined
  const value = wholeOf(bound)
  if (value === undefined)
    throw new ArrayError('INDEX', `slice indices must be integers, not ${inspect(bound, { depth: 0 })}`)
  return value
}

function wholeOf(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value
  return Number.isInteger(number) ? (number as number) : undefined
}

/** The items of an index as text: `'1, 0:5, ..., newaxis, ::-2'`. @throws ArrayError */
export function parseIndex(text: string): IndexItem[] {
  return text.split(',').map((part) => parseItem(part.trim()))
}

export function parseItem(text: string): IndexItem {
  if (text === '...') return text
  if (text === 'newaxis' || text === 'None') return null
  const bounds = text.split(':').map((part) => (part.trim() === '' ? null : Number(part)))
  const [start, stop, step] = bounds
  const isValid = bounds.length <= 3 && bounds.every((bound) => bound === null || Number.isInteger(bound))
  if (!isValid || text === '')
    throw new ArrayError('INDEX', `'${text}' is no index; write an integer, start:stop:step, newaxis or ...`)
  return bounds.length === 1 ? start! : [start, stop, step]
}

/** The shape of what is selected. */
export function shapeOfSelections(selections: readonly Selection[]): number[] {
  const shape: number[] = []
  for (const selection of selections) {
    if (selection.kind === 'slice') shape.push(selection.count)
    else if (selection.kind === 'new') shape.push(1)
  }
  return shape
}

/** The view of what is selected. */
export function select(block: Block, selections: readonly Selection[]): Block {
  const shape: number[] = []
  const strides: number[] = []
  let { offset } = block
  for (const selection of selections) {
    if (selection.kind === 'new') {
      shape.push(1)
      strides.push(0)
      continue
    }
    const stride = block.strides[selection.axis]!
    if (selection.kind === 'one') offset += selection.position * stride
    else {
      // Of an empty slice no element is there to start at.
      if (selection.count > 0) offset += selection.start * stride
      shape.push(selection.count)
      strides.push(stride * selection.step)
    }
  }
  return { ...block, shape, strides, offset }
}

import { checkFunction, checkIterable, checkOptions, mustBe } from '../../native/index.ts'
import { NdArray } from '../array.ts'
import { sizeOf } from '../blocks/block.ts'
import { copyInto, elementsOf } from '../blocks/copying.ts'
import { Distribution } from '../distribution/distribution.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { nodeOf } from '../functions/as-node.ts'
import { demand } from '../graph/demand.ts'
import type { Arrays } from '../open-arrays.ts'
import { type AxisPartition, intervalOf } from '../partitions/axis-partition.ts'
import { type AxisDivision, checkDivision, type Division } from '../partitions/partition.ts'
import type { Elements } from '../types/dtype.ts'
import { checkNamespace, checkPath, onFile } from './file-calls.ts'
import { type NpyFile, openNpy } from './npy.ts'
import { readNpz } from './npz.ts'
import { ownRuns, type Progress, progressOf } from './own-runs.ts'
import { checkWhere, openZarr, type ZarrRegion, type ZarrStore } from './zarr.ts'

export interface LoadOptions {
  /** How the array is to lie over the ranks of the namespace. */
  readonly partition?: Division
}

export interface NpyLoadOptions extends LoadOptions, Progress {
  /** Only from one row to before another, so that a file may be larger than memory. */
  readonly rows?: readonly [start: number, stop: number]
}

/**
 * Reads a .npy file into a new array of the namespace. With a partition each rank reads its own part, and no other: the
 * file may be larger than the memory of one machine.
 * @throws ArgumentError; ArrayError
 */
export async function loadNpy(xp: Arrays, path: string, options: NpyLoadOptions = {}): Promise<NdArray> {
  checkNamespace(xp)
  checkPath('path', path)
  checkOptions('loadNpy', options, { partition: true, rows: true, onProgress: true })
  const { partition, rows, onProgress } = options
  if (partition !== undefined) checkDivision(partition)
  if (rows !== undefined && !(Array.isArray(rows) && rows.length === 2))
    throw mustBe('options.rows', 'two numbers of rows, as [start, stop]', rows)
  if (onProgress !== undefined) checkFunction('options.onProgress', onProgress, 'which takes two numbers of bytes')
  return onFile(path, () => loadNpyFile(xp, path, options))
}

async function loadNpyFile(xp: Arrays, path: string, options: NpyLoadOptions): Promise<NdArray> {
  await using file = await openNpy(path)
  const { first, shape } = rowsOf(file, options.rows)
  const { isColumnMajor } = file
  const lying = isColumnMajor ? [...shape].reverse() : shape
  const division = isColumnMajor ? reversed(options.partition, shape.length) : options.partition
  const array = xp.empty(lying, { dtype: file.dtype, ...(division === undefined ? {} : { partition: division }) })
  await array.compute()
  const node = NdArray.nodeOf(array)
  const elements = elementsOf(demand(node))
  const { lanes } = file.dtype
  const onStep = progressOf(options, elements.length / lanes, file.dtype)
  let at = 0
  for (const { start, length } of ownRuns(node)) {
    await file.readAt(first + start, elements.subarray(at * lanes, (at + length) * lanes) as Elements, onStep)
    at += length
  }
  return isColumnMajor ? xp.permuteDims(array, [...shape.keys()].reverse()) : array
}

/** Reads arrays of a .npz file by name: those of `names`, or all. @throws ArgumentError; ArrayError */
export async function loadNpz(
  xp: Arrays,
  path: string,
  options: LoadOptions & { readonly names?: readonly string[] } = {},
): Promise<Record<string, NdArray>> {
  checkNamespace(xp)
  checkPath('path', path)
  checkOptions('loadNpz', options, { partition: true, names: true })
  const { names, partition } = options
  if (partition !== undefined) checkDivision(partition)
  if (names !== undefined) checkIterable('options.names', names, 'names')
  const arrays: Record<string, NdArray> = Object.create(null)
  const blocks = await onFile(path, () => readNpz(path, names && [...names].map(String)))
  for (const [name, block] of blocks) {
    const whole = new NdArray(nodeOf(block))
    arrays[name] = partition === undefined ? whole : xp.asarray(whole, { copy: true, partition })
  }
  return arrays
}

/**
 * Reads a Zarr array, or a region of it. With a partition each rank reads the chunks of its own part.
 * @throws ArgumentError; ArrayError
 */
export async function loadZarr(
  xp: Arrays,
  where: string | ZarrStore,
  options: LoadOptions & { readonly region?: ZarrRegion } = {},
): Promise<NdArray> {
  checkNamespace(xp)
  checkWhere('where', where)
  checkOptions('loadZarr', options, { partition: true, region: true })
  const { partition, region: wanted = [] } = options
  if (partition !== undefined) checkDivision(partition)
  const file = await openZarr(where)
  const bounds = file.boundsOf(wanted)
  if (partition === undefined) return new NdArray(nodeOf(await file.read(bounds)))
  // Blocks of indices are read, and dealt out afterwards if that is wanted.
  const blocks = blocksOf(partition)
  const shape = bounds.map(([start, stop]) => stop - start)
  const array = await xp.empty(shape, { dtype: file.dtype, partition: blocks }).compute()
  const node = NdArray.nodeOf(array)
  const { spread } = node
  const own =
    spread instanceof Distribution
      ? partBounds(spread.partition.axes, spread.partition.partsOf(spread.rank))
      : shape.map((extent) => [0, extent] as const)
  const region = own.map(([start, stop], axis) => [bounds[axis]![0] + start, bounds[axis]![0] + stop] as const)
  copyInto(demand(node), await file.read(region))
  return blocks === partition ? array : xp.asarray(array, { copy: true, partition })
}

/** The number of the first element that is read, and the shape of all. */
function rowsOf(
  file: NpyFile,
  rows: readonly [number, number] | undefined,
): { readonly first: number; readonly shape: readonly number[] } {
  const { shape } = file
  if (rows === undefined) return { first: 0, shape }
  const [start, stop] = rows
  const [extent] = shape
  if (extent === undefined) throw new ArrayError('SHAPE', `${file.path} has no rows: its shape is ()`)
  if (!Number.isInteger(start) || !Number.isInteger(stop) || start < 0 || stop < start || stop > extent)
    throw new ArrayError(
      'INDEX',
      `rows ${String(start)} to ${String(stop)} are out of bounds for shape ${shapeText(shape)} of ${file.path}`,
    )
  if (file.isColumnMajor && shape.length > 1)
    throw new ArrayError('VALUE', `the rows of ${file.path} do not lie together, since it is in column-major order`)
  return { first: start * sizeOf(shape.slice(1)), shape: shape.with(0, stop - start) }
}

function reversed(division: Division | undefined, axes: number): Division | undefined {
  if (division === undefined || axes === 0) return division
  if (Array.isArray(division)) return [...division].reverse()
  return [...new Array<AxisDivision>(axes - 1).fill('replicated'), division as AxisDivision]
}

/** The same axes divided, each into blocks; the division itself if it is so. */
function blocksOf(division: Division): Division {
  const isDealt = (one: AxisDivision): boolean => one !== 'block' && one !== 'replicated'
  if (!Array.isArray(division)) return isDealt(division as AxisDivision) ? 'block' : division
  return division.some(isDealt) ? division.map((one: AxisDivision) => (isDealt(one) ? 'block' : one)) : division
}

function partBounds(axes: readonly AxisPartition[], parts: readonly number[]): (readonly [number, number])[] {
  return axes.map((axis, at) => {
    const { begin, end } = intervalOf(axis, parts[at]!, 0)
    return [begin, end]
  })
}

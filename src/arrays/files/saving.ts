import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { checkBoolean, checkFunction, checkOptions, mustBe } from '../../native/index.ts'
import { NdArray } from '../array.ts'
import type { Block } from '../blocks/block.ts'
import { elementsOf } from '../blocks/copying.ts'
import { Distribution, moved } from '../distribution/distribution.ts'
import { demand } from '../graph/demand.ts'
import type { ArrayNode } from '../graph/node.ts'
import { blockAxis, intervalOf } from '../partitions/axis-partition.ts'
import { Partition } from '../partitions/partition.ts'
import type { Elements } from '../types/dtype.ts'
import { checkArray, checkPath, onFile } from './file-calls.ts'
import { createNpy } from './npy.ts'
import { writeNpz } from './npz.ts'
import { ownRuns, type Progress, progressOf } from './own-runs.ts'
import { checkWhere, createZarr, type ZarrOptions, type ZarrStore } from './zarr.ts'

/**
 * Writes an array to a .npy file. Every rank calls it and writes its own part. The file is whole when all have
 * returned.
 * @throws ArgumentError; ArrayError
 */
export async function saveNpy(path: string, array: NdArray, options: Progress = {}): Promise<void> {
  checkPath('path', path)
  checkArray('array', array)
  checkOptions('saveNpy', options, { onProgress: true })
  const { onProgress } = options
  if (onProgress !== undefined) checkFunction('options.onProgress', onProgress, 'which takes two numbers of bytes')
  await onFile(path, () => saveNpyFile(path, array, options))
}

async function saveNpyFile(path: string, array: NdArray, options: Progress): Promise<void> {
  await array.compute()
  const node = NdArray.nodeOf(array)
  const elements = elementsOf(demand(node))
  const { lanes } = array.dtype
  const onStep = progressOf(options, elements.length / lanes, array.dtype)
  await using file = await createNpy(path, array.dtype, array.shape)
  let at = 0
  for (const { start, length } of ownRuns(node)) {
    await file.writeAt(start, elements.subarray(at * lanes, (at + length) * lanes) as Elements, onStep)
    at += length
  }
}

/**
 * Writes arrays by name to a .npz file, stored or deflated. Among ranks every rank calls it, gets all elements, and
 * writes the same file: it appears under its name when it is whole.
 * @throws ArgumentError; ArrayError
 */
export async function saveNpz(
  path: string,
  arrays: Readonly<Record<string, NdArray>>,
  options: { readonly compressed?: boolean } = {},
): Promise<void> {
  checkPath('path', path)
  if (typeof arrays !== 'object' || arrays === null) throw mustBe('arrays', 'an object with arrays by name', arrays)
  for (const [name, array] of Object.entries(arrays)) checkArray(`arrays.${name}`, array)
  checkOptions('saveNpz', options, { compressed: true })
  const { compressed = false } = options
  checkBoolean('options.compressed', compressed)
  const blocks = new Map<string, Block>()
  for (const [name, array] of Object.entries(arrays)) {
    await array.compute()
    const node = NdArray.nodeOf(array)
    blocks.set(name, demand(node.spread?.gathered(node) ?? node))
  }
  const scratch = `${path}.${randomUUID()}.part`
  try {
    await onFile(path, async () => {
      await writeNpz(scratch, blocks, compressed)
      await rename(scratch, path)
    })
  } catch (error) {
    await rm(scratch, { force: true }).catch(() => {})
    throw error
  }
}

/**
 * Writes an array as a Zarr array. Among ranks every rank calls it. What a rank lacks of the chunks that it writes
 * moves to it before, so that no chunk is written by two.
 * @throws ArgumentError; ArrayError
 */
export async function saveZarr(where: string | ZarrStore, array: NdArray, options: ZarrOptions = {}): Promise<void> {
  checkWhere('where', where, true)
  checkArray('array', array)
  checkOptions('saveZarr', options, { chunks: true, dimensionNames: true })
  await array.compute()
  const file = await createZarr(where, array.dtype, array.shape, options)
  const { node, start } = alongChunks(NdArray.nodeOf(array), file.chunks)
  await file.write(start, demand(node))
}

/** The array in a partition whose cuts are between chunks, and where this rank's part begins. */
function alongChunks(
  node: ArrayNode,
  chunks: readonly number[],
): { readonly node: ArrayNode; readonly start: number[] } {
  const { spread } = node
  if (!(spread instanceof Distribution)) return { node, start: node.shape.map(() => 0) }
  const { axes, ranks, grid } = spread.partition
  const cut = axes.map((axis, at) => (axis.kind === 'whole' ? axis : blockAxis(axis.extent, axis.parts, chunks[at])))
  const partition = new Partition(cut, ranks, grid)
  const parts = partition.partsOf(spread.rank)
  return {
    node: moved(spread.sharing, node, partition),
    start: cut.map((axis, at) => intervalOf(axis, parts[at]!, 0).begin),
  }
}

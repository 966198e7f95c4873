import { sizeOf } from '../blocks/block.ts'
import { Distribution } from '../distribution/distribution.ts'
import type { ArrayNode } from '../graph/node.ts'
import { type Run, runsOf } from '../partitions/runs.ts'
import type { DType } from '../types/dtype.ts'

/** Is told how many bytes of how many of its own this rank has moved. */
export interface Progress {
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void
}

/** Where the elements that this process has lie in the whole array, in the order in which it has them. */
export function ownRuns(node: ArrayNode): Iterable<Run> {
  const { spread } = node
  if (spread instanceof Distribution) return runsOf(spread.partition, spread.rank)
  return [{ start: 0, length: sizeOf(node.shape) }]
}

/** Counts bytes, and tells. */
export function progressOf({ onProgress }: Progress, elements: number, dtype: DType): (bytes: number) => void {
  const total = elements * dtype.bytes
  let done = 0
  return (bytes) => {
    done += bytes
    onProgress?.(done, total)
  }
}

import { GRANULE_BYTES, GRANULES_PER_SLAB, SLAB_BYTES } from './layout.ts'

/** Sizes of blocks in granules of 64 B; what does not fit the last one gets slabs of its own. */
export const CLASS_GRANULES: readonly number[] = [
  1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 102, 128, 204, 341, 512, 1024,
]

const GRANULE_LOG2 = Math.log2(GRANULE_BYTES)

/** Size class by the number of granules. */
const CLASS_OF_GRANULES = new Uint8Array(GRANULES_PER_SLAB + 1)
for (let granules = 1, at = 0; granules <= GRANULES_PER_SLAB; granules += 1) {
  if (granules > CLASS_GRANULES[at]!) at += 1
  CLASS_OF_GRANULES[granules] = at
}

/** The size class for this many bytes; -1 if they need more than one slab. */
export function classFor(lengthBytes: number): number {
  if (lengthBytes > SLAB_BYTES) return -1
  return CLASS_OF_GRANULES[(lengthBytes + GRANULE_BYTES - 1) >>> GRANULE_LOG2]!
}

/** How many blocks of a class a slab holds. */
export function blocksPerSlab(sizeClass: number): number {
  return Math.floor(GRANULES_PER_SLAB / CLASS_GRANULES[sizeClass]!)
}

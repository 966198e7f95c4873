/**
 * Arrays by the Python Array API standard, with its names in camelCase.
 *
 * @example
 * ```ts
 * const xp = await openArrays()
 * const x = xp.linspace(0, 1, 5)
 * const y = x.multiply(2).add(1) // pending: nothing is computed yet
 * console.log(y.sum().item()) // 10
 * console.log(y) // array([1. , 1.5, 2. , 2.5, 3. ])
 * ```
 */
export { type ArrayMethods, type Index, type Lifted, NdArray, type Operand } from './array.ts'
export type { NestedArray } from './blocks/elements.ts'
export { arrayCounters, seenArray } from './distribution/array-meter.ts'
export { ArrayError, type ArrayErrorKind } from './errors.ts'
export { movedCounters } from './exchange/moved-meter.ts'
export { type LoadOptions, loadNpy, loadNpz, loadZarr, type NpyLoadOptions } from './files/loading.ts'
export type { Progress } from './files/own-runs.ts'
export { saveNpy, saveNpz, saveZarr } from './files/saving.ts'
export type { ZarrOptions, ZarrRegion, ZarrStore } from './files/zarr.ts'
export { type Arrays, type Constants, openArrays } from './open-arrays.ts'
export { divide, ownerAt } from './partitions/partition.ts'
export type { Complex, Scalar } from './types/complex.ts'
export type { DType, DTypeName, Kind } from './types/dtype.ts'

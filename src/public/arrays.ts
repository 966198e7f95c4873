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
export {
  ArrayError,
  type ArrayErrorKind,
  type ArrayMethods,
  type Arrays,
  type Complex,
  type Constants,
  type DType,
  type DTypeName,
  type Index,
  type Kind,
  type Lifted,
  type LoadOptions,
  loadNpy,
  loadNpz,
  loadZarr,
  NdArray,
  type NestedArray,
  type NpyLoadOptions,
  type Operand,
  openArrays,
  type Progress,
  type Scalar,
  saveNpy,
  saveNpz,
  saveZarr,
  type ZarrOptions,
  type ZarrRegion,
  type ZarrStore,
} from '../arrays/index.ts'

/**
 * Arrays by the Python Array API standard, with its names in camelCase.
 *
 * ```ts
 * import { openArrays } from 'aether-dsm/arrays'
 *
 * const xp = await openArrays()
 * const x = xp.linspace(0, 1, 5)
 * const y = x.multiply(2).add(1) // pending: computed in one pass when someone looks at elements
 * console.log(y.sum().item()) // prints 10
 * y.setAt('1:3', 0)
 * console.log(String(y)) // prints [1.  0.  0.  2.5 3. ]
 * ```
 *
 * @module aether-dsm/arrays
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

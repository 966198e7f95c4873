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
  type DType,
  type DTypeName,
  type Kind,
  NdArray,
  openArrays,
  type Scalar,
} from '../arrays/index.ts'

/** A complex number at the edge of an array: what `item()` gives and what functions take as a scalar. */
export interface Complex {
  readonly re: number
  readonly im: number
}

/** One element as JavaScript has it: a BigInt for int64 and uint64, a Complex for complex types. */
export type Scalar = boolean | number | bigint | Complex

export function isComplexNumber(value: unknown): value is Complex {
  const { re, im } = Object(value) as Partial<Complex>
  return typeof value === 'object' && typeof re === 'number' && typeof im === 'number'
}

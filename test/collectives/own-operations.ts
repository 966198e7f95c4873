import type { ElementKindName } from '../../src/collectives/element-kind.ts'
import type { OperationName } from '../../src/collectives/operation.ts'

/**
 * What two elements of a kind combine to, written down apart from the code under test: exactly first, then made to fit
 * the kind.
 */

export type Value = number | bigint
type Combine = (left: Value, right: Value) => Value
type Row = Readonly<Partial<Record<OperationName, Combine>>>

/** Over whole numbers of any length, in two's complement; `fit` makes an element of the exact result. */
function whole(fit: (exact: bigint) => Value): Row {
  const of = (exact: (left: bigint, right: bigint) => bigint): Combine => {
    return (left, right) => fit(exact(BigInt(left), BigInt(right)))
  }
  return {
    sum: of((left, right) => left + right),
    prod: of((left, right) => left * right),
    // biome-ignore lint/complexity/useMathMinMax: Math.min takes no bigint
    min: of((left, right) => (right < left ? right : left)),
    // biome-ignore lint/complexity/useMathMinMax: Math.max takes no bigint
    max: of((left, right) => (right > left ? right : left)),
    and: of((left, right) => left & right),
    or: of((left, right) => left | right),
    xor: of((left, right) => left ^ right),
  }
}

/** IEEE 754; NaN wins, and -0 is below 0. */
function float(round: (value: number) => number): Row {
  const of = (exact: (left: number, right: number) => number): Combine => {
    return (left, right) => round(exact(left as number, right as number))
  }
  const isBelow = (left: number, right: number) => left < right || (left === right && Object.is(left, -0))
  const nan = (left: number, right: number) => Number.isNaN(left) || Number.isNaN(right)
  return {
    sum: of((left, right) => left + right),
    prod: of((left, right) => left * right),
    min: of((left, right) => (nan(left, right) ? Number.NaN : isBelow(left, right) ? left : right)),
    max: of((left, right) => (nan(left, right) ? Number.NaN : isBelow(left, right) ? right : left)),
  }
}

/** Every kind, with the operations that there are for it. */
export const ownOperations: Readonly<Record<ElementKindName, Row>> = {
  int8: whole((exact) => Number(BigInt.asIntN(8, exact))),
  uint8: whole((exact) => Number(BigInt.asUintN(8, exact))),
  uint8clamped: whole((exact) => Number(exact < 0n ? 0n : exact > 255n ? 255n : exact)),
  int16: whole((exact) => Number(BigInt.asIntN(16, exact))),
  uint16: whole((exact) => Number(BigInt.asUintN(16, exact))),
  int32: whole((exact) => Number(BigInt.asIntN(32, exact))),
  uint32: whole((exact) => Number(BigInt.asUintN(32, exact))),
  float32: float(Math.fround),
  float64: float((value) => value),
  int64: whole((exact) => BigInt.asIntN(64, exact)),
  uint64: whole((exact) => BigInt.asUintN(64, exact)),
}

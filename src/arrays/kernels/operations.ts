import { ArrayError } from '../errors.ts'
import { bool, type DType, type Kind, realOf } from '../types/dtype.ts'

/** What an element-wise operation takes and gives (the standard, "Element-wise Functions"). */
export interface Operation {
  readonly name: string
  readonly operands: 1 | 2 | 3
  readonly kinds: ReadonlySet<Kind>
  /** The kinds in the standard's words, for the error. */
  readonly accepts: string
  /** The type of the result: that of the operands, bool, or the type of the parts of a complex number. */
  readonly gives: 'same' | 'bool' | 'real'
}

const integers: readonly Kind[] = ['signed integer', 'unsigned integer']
const accepted = {
  any: ['bool', ...integers, 'real floating', 'complex floating'],
  numeric: [...integers, 'real floating', 'complex floating'],
  'real-valued': [...integers, 'real floating'],
  floating: ['real floating', 'complex floating'],
  'real floating': ['real floating'],
  'integer or bool': ['bool', ...integers],
  integer: integers,
  bool: ['bool'],
} as const satisfies Record<string, readonly Kind[]>

function operations(
  operands: Operation['operands'],
  accepts: keyof typeof accepted,
  gives: Operation['gives'],
  names: string,
): Operation[] {
  const kinds = new Set<Kind>(accepted[accepts])
  return names.split(' ').map((name) => ({ name, operands, kinds, accepts, gives }))
}

/** All of them by name. `clip` is `maximum`, then `minimum`. `where` takes a condition before its two operands. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [
    ...operations(1, 'floating', 'same', 'acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2'),
    ...operations(1, 'floating', 'same', 'reciprocal sin sinh sqrt tan tanh'),
    ...operations(1, 'numeric', 'same', 'conj negative positive sign square'),
    ...operations(1, 'numeric', 'real', 'abs imag real'),
    ...operations(1, 'real-valued', 'same', 'ceil floor trunc'),
    ...operations(1, 'numeric', 'same', 'round'),
    ...operations(1, 'numeric', 'bool', 'isfinite isinf isnan'),
    ...operations(1, 'real floating', 'bool', 'signbit'),
    ...operations(1, 'integer or bool', 'same', 'bitwise_invert'),
    ...operations(1, 'bool', 'bool', 'logical_not'),
    ...operations(2, 'numeric', 'same', 'add multiply pow subtract'),
    ...operations(2, 'floating', 'same', 'divide'),
    ...operations(2, 'real-valued', 'same', 'floor_divide maximum minimum remainder'),
    ...operations(2, 'real floating', 'same', 'atan2 copysign hypot logaddexp nextafter'),
    ...operations(2, 'integer or bool', 'same', 'bitwise_and bitwise_or bitwise_xor'),
    ...operations(2, 'integer', 'same', 'bitwise_left_shift bitwise_right_shift'),
    ...operations(2, 'bool', 'bool', 'logical_and logical_or logical_xor'),
    ...operations(2, 'any', 'bool', 'equal not_equal'),
    ...operations(2, 'real-valued', 'bool', 'greater greater_equal less less_equal'),
    ...operations(3, 'any', 'same', 'where'),
  ].map((operation) => [operation.name, operation]),
)

/** The type of the result for operands of this type. @throws ArrayError */
export function resultOf(operation: Operation, type: DType): DType {
  if (!operation.kinds.has(type.kind)) {
    const advice = operation.accepts.includes('floating') ? '; convert it with astype()' : ''
    throw new ArrayError('TYPE', `${operation.name} takes ${operation.accepts} arrays, not ${type}${advice}`)
  }
  if (operation.gives === 'bool') return bool
  return operation.gives === 'real' ? realOf(type) : type
}

import { broadcastShapes } from '../blocks/layout.ts'
import { ArrayError } from '../errors.ts'
import { ArrayNode, type Capture, type Constant } from '../graph/node.ts'
import { OPERATIONS, type Operation, resultOf } from '../kernels/operations.ts'
import type { Scalar } from '../types/complex.ts'
import { bool, type DType } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { dtypeOfScalar, isScalar, scalarBeside } from '../types/scalar.ts'
import { asNode } from './as-node.ts'
import { isNode, settledIfShared, spreadOf } from './call.ts'
import type { ArrayLike, NodeEntry } from './entry.ts'

/** What stands for an array in an element-wise function. A scalar takes the type of the arrays beside it. */
type Operand = ArrayNode | ArrayLike

/** The pending array of an operation, element by element. @throws ArrayError */
function elementwise(operation: Operation, operands: readonly Operand[]): ArrayNode {
  const given = operands.map(nodeOrScalar)
  const type = typeOf(given)
  return step(
    operation.name,
    type,
    resultOf(operation, type),
    given.map((operand) => prepared(operand, type)),
  )
}

function nodeOrScalar(operand: Operand): ArrayNode | Scalar {
  return isScalar(operand) ? operand : asNode(operand)
}

/** The array in another type; the array itself if it has it. */
export function cast(node: ArrayNode, to: DType): ArrayNode {
  return node.dtype === to ? node : step('cast', node.dtype, to, [node])
}

/** The type that all operands have in common. If all of them are scalars, they are arrays of their own types. */
function typeOf(operands: readonly (ArrayNode | Scalar)[]): DType {
  let type: DType | undefined
  for (const operand of operands)
    if (operand instanceof ArrayNode) type = type === undefined ? operand.dtype : promote(type, operand.dtype)
  return type ?? operands.map((scalar) => dtypeOfScalar(scalar as Scalar)).reduce(promote)
}

function prepared(operand: ArrayNode | Scalar, type: DType): ArrayNode | Constant {
  return operand instanceof ArrayNode ? cast(operand, type) : { dtype: type, value: scalarBeside(operand, type) }
}

function step(operation: string, from: DType, to: DType, operands: readonly (ArrayNode | Constant)[]): ArrayNode {
  const given = operands.every(isNode) ? operands : operands.filter(isNode)
  const shape = broadcastShapes(...given.map((node) => node.shape))
  const spread = spreadOf(given)
  const aligned = spread?.align(given, shape) ?? { operands: given, spread: undefined }
  let next = 0
  const captures: (Capture | Constant)[] = operands.map((operand) =>
    operand instanceof ArrayNode ? aligned.operands[next++]!.capture() : operand,
  )
  const pending = { kind: 'step', operation, from, operands: captures } as const
  return settledIfShared(ArrayNode.pending({ dtype: to, shape }, pending, aligned.spread), aligned.operands)
}

/** `x1` where the condition holds, else `x2`. */
function where(condition: Operand, x1: Operand, x2: Operand): ArrayNode {
  const given = [nodeOrScalar(x1), nodeOrScalar(x2)] as const
  const type = typeOf(given)
  const mask = asNode(condition)
  if (mask.dtype !== bool) throw new ArrayError('TYPE', `a condition must be of bool, not ${mask.dtype}; compare first`)
  return step('where', type, type, [mask, prepared(given[0], type), prepared(given[1], type)])
}

/** Elements below `min` become `min`, and those above `max` become `max`. */
function clip(x: Operand, min?: Operand | null, max?: Operand | null): ArrayNode {
  const array = asNode(x)
  const from = min === undefined || min === null ? array : elementwise(operationOf('maximum'), [array, min])
  const result = max === undefined || max === null ? from : elementwise(operationOf('minimum'), [from, max])
  if (result.dtype !== array.dtype)
    throw new ArrayError('TYPE', `clip keeps the type ${array.dtype}, which does not hold bounds of ${result.dtype}`)
  return result === array ? elementwise(operationOf('positive'), [array]) : result
}

/** @throws TypeError if there is none of this name, which only a mistake in this package can cause */
function operationOf(name: string): Operation {
  const operation = OPERATIONS.get(name)
  if (operation === undefined) throw new TypeError(`there is no operation ${name}`)
  return operation
}

const parameters = { 1: 'x, /', 2: 'x1, x2, /', 3: 'condition, x1, x2, /' } as const

/** The element-wise functions of the standard, from the table of operations. */
export const elementwiseFunctions: readonly NodeEntry[] = [
  ...[...OPERATIONS.values()]
    .filter(({ name }) => name !== 'where')
    .map((operation) => ({
      name: operation.name,
      parameters: parameters[operation.operands],
      moves: 'exchange' as const,
      build: (...operands: Operand[]): ArrayNode => elementwise(operation, checked(operation, operands)),
    })),
  { name: 'where', parameters: parameters[3], moves: 'exchange', build: where },
  { name: 'clip', parameters: 'x, /, min=None, max=None', moves: 'exchange', build: clip },
]

function checked({ name, operands: count }: Operation, operands: readonly Operand[]): readonly Operand[] {
  const given = operands.length > count ? operands.slice(0, count) : operands
  if (given.length < count || given.includes(undefined as unknown as Scalar))
    throw new ArrayError('TYPE', `${name}() takes ${count} operands, not ${operands.length}`)
  return given
}

type Unary = (x: Operand) => ArrayNode
type Binary = (x1: Operand, x2: Operand) => ArrayNode

type UnaryName =
  | (
      | 'abs'
      | 'acos'
      | 'acosh'
      | 'asin'
      | 'asinh'
      | 'atan'
      | 'atanh'
      | 'bitwiseInvert'
      | 'ceil'
      | 'conj'
      | 'cos'
      | 'cosh'
    )
  | ('exp' | 'expm1' | 'floor' | 'imag' | 'isfinite' | 'isinf' | 'isnan' | 'log' | 'log10' | 'log1p' | 'log2')
  | ('logicalNot' | 'negative' | 'positive' | 'real' | 'reciprocal' | 'round' | 'sign' | 'signbit' | 'sin' | 'sinh')
  | ('sqrt' | 'square' | 'tan' | 'tanh' | 'trunc')

type BinaryName =
  | (
      | 'add'
      | 'atan2'
      | 'bitwiseAnd'
      | 'bitwiseLeftShift'
      | 'bitwiseOr'
      | 'bitwiseRightShift'
      | 'bitwiseXor'
      | 'copysign'
    )
  | ('divide' | 'equal' | 'floorDivide' | 'greater' | 'greaterEqual' | 'hypot' | 'less' | 'lessEqual' | 'logaddexp')
  | ('logicalAnd' | 'logicalOr' | 'logicalXor' | 'maximum' | 'minimum' | 'multiply' | 'nextafter' | 'notEqual' | 'pow')
  | ('remainder' | 'subtract')

export type Elementwise = Readonly<Record<UnaryName, Unary> & Record<BinaryName, Binary>> & {
  readonly where: typeof where
  readonly clip: typeof clip
}

import { inspect } from 'node:util'
import { copyOf } from '../blocks/copying.ts'
import { ArrayError } from '../errors.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import type { Scalar } from '../types/complex.ts'
import { DTYPES, type DType, isDType, isFloating, isInteger, type Kind, realOf } from '../types/dtype.ts'
import { promote, canCast as typeCanCast } from '../types/promotion.ts'
import { dtypeOfScalar, integerBounds, isScalar, scalarBeside } from '../types/scalar.ts'
import { asNode, nodeOf } from './as-node.ts'
import { cast } from './elementwise.ts'
import type { ArrayLike, NodeEntry } from './entry.ts'

/** The array in another data type. Without `copy`, an array that has the type is itself. */
function astype(
  like: ArrayNode | ArrayLike,
  dtype: DType,
  { copy = true }: { readonly copy?: boolean } = {},
): ArrayNode {
  const x = asNode(like)
  if (x.dtype !== dtype) {
    if (x.dtype.kind === 'complex floating' && dtype.kind !== 'complex floating')
      throw new ArrayError('TYPE', `a complex array cannot become ${dtype}; take its real() or imag() part first`)
    return cast(x, dtype)
  }
  return copy ? nodeOf(copyOf(demand(x))) : x
}

/** May the elements of one type, or of an array's, become elements of the other by promotion? */
function canCast(from: DType | ArrayNode, to: DType): boolean {
  return typeCanCast(from instanceof ArrayNode ? from.dtype : from, to)
}

/** The type that all have in common. Scalars take the type of the others. */
function resultType(...operands: readonly (DType | ArrayNode | Scalar)[]): DType {
  const types: DType[] = []
  const scalars: Scalar[] = []
  for (const operand of operands) {
    if (operand instanceof ArrayNode) types.push(operand.dtype)
    else if (isScalar(operand)) scalars.push(operand)
    else if (isDType(operand)) types.push(operand)
    else throw new ArrayError('TYPE', `${inspect(operand, { depth: 0 })} is no array, data type or scalar`)
  }
  if (types.length === 0) throw new ArrayError('TYPE', 'at least one array or data type is required')
  const type = types.reduce(promote)
  return scalars.reduce<DType>((common, scalar) => besideScalar(common, scalar), type)
}

/** A scalar of a higher kind makes the type complex or floating of the same width. */
function besideScalar(type: DType, scalar: Scalar): DType {
  if (isFloating(type) && dtypeOfScalar(scalar).kind === 'complex floating')
    return realOf(type).name === 'float32' ? DTYPES.complex64 : DTYPES.complex128
  scalarBeside(scalar, type)
  return type
}

/** Limits of a floating type, or of the parts of a complex one. */
interface FloatingLimits {
  readonly bits: number
  readonly eps: number
  readonly max: number
  readonly min: number
  readonly smallestNormal: number
  readonly dtype: DType
}

function finfo(type: DType | ArrayNode): FloatingLimits {
  const dtype = type instanceof ArrayNode ? type.dtype : type
  if (!isFloating(dtype)) throw new ArrayError('TYPE', `${dtype} is not a floating type; ask iinfo()`)
  const real = realOf(dtype)
  const isWide = real === DTYPES.float64
  const max = isWide ? Number.MAX_VALUE : (2 - 2 ** -23) * 2 ** 127
  return {
    bits: real.bytes * 8,
    eps: isWide ? Number.EPSILON : 2 ** -23,
    max,
    min: -max,
    smallestNormal: isWide ? 2 ** -1022 : 2 ** -126,
    dtype: real,
  }
}

/** Limits of an integer type. */
interface IntegerLimits {
  readonly bits: number
  readonly max: bigint
  readonly min: bigint
  readonly dtype: DType
}

function iinfo(type: DType | ArrayNode): IntegerLimits {
  const dtype = type instanceof ArrayNode ? type.dtype : type
  if (!isInteger(dtype)) throw new ArrayError('TYPE', `${dtype} is not an integer type; ask finfo()`)
  return { bits: dtype.bytes * 8, ...integerBounds(dtype), dtype }
}

type KindName = Kind | 'integral' | 'numeric'

/** Is the type one of a kind, of several, or another type? */
function isdtype(dtype: DType, kind: DType | KindName | readonly (DType | KindName)[]): boolean {
  if (Array.isArray(kind)) return kind.some((one) => isdtype(dtype, one))
  if (typeof kind !== 'string') return dtype === kind
  if (kind === 'integral') return isInteger(dtype)
  if (kind === 'numeric') return dtype.kind !== 'bool'
  if (!Object.values(DTYPES).some((one) => one.kind === kind))
    throw new ArrayError('VALUE', `'${kind}' is not a kind of data types`)
  return dtype.kind === kind
}

export const dataTypes: readonly NodeEntry[] = [
  { name: 'astype', parameters: 'x, dtype, /, *, copy=True, device=None', moves: 'nothing', build: astype },
  { name: 'can_cast', parameters: 'from_, to, /', moves: 'nothing', build: canCast },
  { name: 'finfo', parameters: 'type, /', moves: 'nothing', build: finfo },
  { name: 'iinfo', parameters: 'type, /', moves: 'nothing', build: iinfo },
  { name: 'isdtype', parameters: 'dtype, kind', moves: 'nothing', build: isdtype },
  { name: 'result_type', parameters: '*arrays_and_dtypes', moves: 'nothing', build: resultType },
]

export interface DataTypes {
  astype: typeof astype
  canCast: typeof canCast
  finfo: typeof finfo
  iinfo: typeof iinfo
  isdtype: typeof isdtype
  resultType: typeof resultType
}

import { rowMajor, sizeOf } from '../blocks/block.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { DTYPES, type DType, type DTypeName } from '../types/dtype.ts'

/**
 * The head of a .npy file (NumPy enhancement proposal 1): magic bytes, version, length, and a dictionary as Python
 * writes it. It is padded so that the elements begin at a multiple of 64 bytes.
 *
 * ```
 *   0      6     8        10 or 12                              multiple of 64
 *   93 NUMPY  1 0  length   {'descr': '<f8', 'fortran_order': …}   \n  elements …
 * ```
 */
export interface NpyHeader {
  readonly dtype: DType
  readonly shape: readonly number[]
  /** Does the first axis lie next to each other, and not the last? */
  readonly columnMajor: boolean
  readonly bigEndian: boolean
  /** Where the elements begin. */
  readonly dataStart: number
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
const ALIGNMENT = 64
/** A file may say that its head takes 4 GiB. NumPy, too, reads no more than this by default. */
const HEADER_BYTES_MAX = 10_000
/** NumPy has no more. */
const AXES_MAX = 64

/** As many bytes of a file as hold the length of its head. */
export const NPY_PREFIX_BYTES = 12

const codes: Readonly<Record<string, DTypeName>> = {
  b1: 'bool',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  f4: 'float32',
  f8: 'float64',
  c8: 'complex64',
  c16: 'complex128',
}

/** NumPy's code of a data type: `<f8`, or `|b1` where there is no order of bytes. */
function npyCode(dtype: DType): string {
  const code = Object.keys(codes).find((key) => codes[key] === dtype.name)!
  return `${dtype.bytes === 1 ? '|' : '<'}${code}`
}

/** The data type of such a code, and whether the highest byte of a number comes first. */
function npyDtype(code: string, file: string): { readonly dtype: DType; readonly bigEndian: boolean } {
  const plain = code.replace(/^[<>|=]/, '')
  const name = Object.hasOwn(codes, plain) ? codes[plain] : undefined
  if (name === undefined)
    throw new ArrayError('TYPE', `${file} holds elements of type ${code}, which arrays do not have; convert them first`)
  return { dtype: DTYPES[name], bigEndian: code.startsWith('>') }
}

/** Where the elements begin, from the first `NPY_PREFIX_BYTES` of a file. @throws ArrayError */
export function npyDataStart(prefix: Uint8Array, file: string): number {
  if (prefix.length < NPY_PREFIX_BYTES || MAGIC.some((byte, index) => prefix[index] !== byte))
    throw new ArrayError('VALUE', `${file} is not a .npy file: its first bytes are not \\x93NUMPY`)
  const version = prefix[6]!
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength)
  if (version < 1 || version > 3)
    throw new ArrayError('VALUE', `${file} is a .npy file of version ${version}; versions 1 to 3 can be read`)
  const start = version === 1 ? 10 : 12
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length <= HEADER_BYTES_MAX) return start + length
  throw new ArrayError(
    'VALUE',
    `${file} says that its header has ${length} bytes; ${HEADER_BYTES_MAX} are read at most`,
  )
}

/** Reads a head, of which `bytes` hold at least all. @throws ArrayError */
export function parseNpyHeader(bytes: Uint8Array, file: string): NpyHeader {
  const dataStart = npyDataStart(bytes, file)
  if (bytes.length < dataStart) throw new ArrayError('VALUE', `${file} ends within its header`)
  const text = Buffer.from(bytes.subarray(bytes[6] === 1 ? 10 : 12, dataStart)).toString('utf8')
  const code = /'descr'\s*:\s*'([^']+)'/.exec(text)?.[1]
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1]
  const extents = /'shape'\s*:\s*\(((?:\s*\d+L?\s*(?:,|(?=\))))*)\s*\)/.exec(text)?.[1]
  if (/'descr'\s*:\s*\[/.test(text))
    throw new ArrayError('TYPE', `${file} holds records; save each of their fields as an array of its own`)
  if (code === undefined || order === undefined || extents === undefined)
    throw new ArrayError('VALUE', `${file} has a header that cannot be read: ${text.trim().slice(0, 200)}`)
  const shape = extents
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => Number.parseInt(part, 10))
  const { dtype, bigEndian } = npyDtype(code, file)
  if (shape.length > AXES_MAX)
    throw new ArrayError('SHAPE', `${file} has ${shape.length} axes; ${AXES_MAX} are read at most`)
  if (![...shape, sizeOf(shape) * dtype.bytes].every(Number.isSafeInteger))
    throw new ArrayError('SHAPE', `${file} says that its shape is ${shapeText(shape)}, which no array can have`)
  return { dtype, bigEndian, shape, columnMajor: order === 'True', dataStart }
}

/** The head of a file of elements in row-major order. */
export function formatNpyHeader(dtype: DType, shape: readonly number[]): Uint8Array {
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  const text = `{'descr': '${npyCode(dtype)}', 'fortran_order': False, 'shape': (${extents}), }`
  const prefixBytes = 10
  const total = Math.ceil((prefixBytes + text.length + 1) / ALIGNMENT) * ALIGNMENT
  if (total - prefixBytes > 0xffff)
    throw new ArrayError('SHAPE', `a shape of ${shape.length} axes does not fit the header of a .npy file`)
  const header = Buffer.alloc(total, ' ')
  header.set([...MAGIC, 1, 0])
  header.writeUInt16LE(total - prefixBytes, 8)
  header.write(text, prefixBytes, 'latin1')
  header[total - 1] = 0x0a
  return header
}

/** How many bytes the elements take. */
export function npyDataBytes({ dtype, shape }: NpyHeader): number {
  return sizeOf(shape) * dtype.bytes
}

/** The strides of the elements as they lie in the file. */
export function npyStrides({ shape, columnMajor }: NpyHeader): number[] {
  return columnMajor ? rowMajor([...shape].reverse()).reverse() : rowMajor(shape)
}

/** Turns the bytes of each number around, in place. */
export function swapNumbers(bytes: Uint8Array, dtype: DType): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const width = dtype.bytes / dtype.lanes
  if (width === 2) buffer.swap16()
  else if (width === 4) buffer.swap32()
  else if (width === 8) buffer.swap64()
}

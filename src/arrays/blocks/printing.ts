import { shapeText } from '../errors.ts'
import { type Complex, isComplexNumber, type Scalar } from '../types/complex.ts'
import { type DType, isComplex, isFloating } from '../types/dtype.ts'
import { type Block, sizeOf } from './block.ts'
import { elementAt } from './elements.ts'

/** Settings that NumPy has by default (numpy.set_printoptions). */
const LINE_WIDTH = 75
const THRESHOLD = 1000
const EDGE_ITEMS = 3
const PRECISION = 8

/** The elements as NumPy prints them: `[1. 2. 3.]`, or with the name around it `array([1., 2., 3.])`. */
export function printed(block: Block, { isNamed = false }: { readonly isNamed?: boolean } = {}): string {
  const [prefix, separator] = isNamed ? ['array(', ', '] : ['', ' ']
  const isShort = sizeOf(block.shape) > THRESHOLD
  if (!isNamed && block.shape.length === 0) return scalarText(elementAt(block, block.offset), block.dtype)
  const body = elementsText(block, { isShort, separator, indent: prefix.length })
  return isNamed ? named(block, body) : body
}

/** The element of an array without axes, as Python prints it. */
function scalarText(element: Scalar, dtype: DType): string {
  if (typeof element === 'boolean') return element ? 'True' : 'False'
  if (isComplexNumber(element)) {
    const { re, im } = element
    const part = (value: number): string => pythonNumber(value, dtype).replace(/\.0$/, '')
    const imaginary = `${part(im)}j`
    if (re === 0 && !Object.is(re, -0)) return imaginary
    return `(${part(re)}${/^[-]/.test(imaginary) ? '' : '+'}${imaginary})`
  }
  return isFloating(dtype) ? pythonNumber(element as number, dtype) : String(element)
}

function pythonNumber(value: number, dtype: DType): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = shortest(Math.abs(value), dtype)
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits = '', exponent = ''] = size.toExponential().split('e')
    return `${sign}${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
  }
  const text = withoutExponent(size)
  return `${sign}${text.includes('.') ? text : `${text}.0`}`
}

function named({ dtype, shape }: Block, body: string): string {
  const isEmpty = sizeOf(shape) === 0
  const isUsual = ['bool', 'float64', 'int64', 'complex128'].includes(dtype.name) && !isEmpty
  const notes: string[] = []
  const isPlain = shape.length === 1 && shape[0] === 0
  if ((isEmpty && !isPlain) || sizeOf(shape) > THRESHOLD) notes.push(`shape=${shapeText(shape)}`)
  if (!isUsual) notes.push(`dtype=${dtype}`)
  if (notes.length === 0) return `array(${body})`
  const note = notes.join(', ')
  const lastLine = body.length - (body.lastIndexOf('\n') + 1) + (body.includes('\n') ? 0 : 'array('.length)
  const fits = lastLine + note.length + 3 <= LINE_WIDTH
  return `array(${body},${fits ? ' ' : `\n${' '.repeat('array('.length)}`}${note})`
}

interface Look {
  readonly isShort: boolean
  readonly separator: string
  readonly indent: number
}

function elementsText(block: Block, look: Look): string {
  if (sizeOf(block.shape) === 0) return '[]'
  const format = formatOf(block, look.isShort)
  if (block.shape.length === 0) return format(elementAt(block, block.offset)).trim()
  return axisText(block, look, format, { axis: 0, place: block.offset, indent: look.indent + 1 })
}

type Format = (element: unknown) => string

/** One axis: its elements in lines, or the texts of the axes below, one under the other. */
function axisText(
  block: Block,
  look: Look,
  format: Format,
  at: { readonly axis: number; readonly place: number; readonly indent: number },
): string {
  const { axis, place, indent } = at
  const extent = block.shape[axis]!
  const stride = block.strides[axis]!
  const isLast = axis === block.shape.length - 1
  const parts = shownIndices(extent, look.isShort).map((index) => {
    if (index === undefined) return '...'
    const next = place + index * stride
    if (isLast) return format(elementAt(block, next))
    return axisText(block, look, format, { axis: axis + 1, place: next, indent: indent + 1 })
  })
  if (isLast) return `[${lines(parts, look.separator, indent, LINE_WIDTH - indent - axis - 1)}]`
  const gap = '\n'.repeat(block.shape.length - axis - 1)
  return `[${parts.join(`${look.separator.trimEnd()}${gap}${' '.repeat(indent)}`)}]`
}

/** The elements of a row, broken into lines of at most `room` characters. */
function lines(parts: readonly string[], separator: string, indent: number, room: number): string {
  const broken: string[] = []
  let line = ''
  for (const [index, part] of parts.entries()) {
    if (line !== '' && line.length + part.length > room) {
      broken.push(line.trimEnd())
      line = ''
    }
    line += index === parts.length - 1 ? part : `${part}${separator}`
  }
  return [...broken, line].join(`\n${' '.repeat(indent)}`)
}

/** All indices of an axis; or the first and last few, with undefined for those between. */
function shownIndices(extent: number, isShort: boolean): (number | undefined)[] {
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)
  if (!isShort || extent <= 2 * EDGE_ITEMS) return range(0, extent)
  return [...range(0, EDGE_ITEMS), undefined, ...range(extent - EDGE_ITEMS, extent)]
}

/** All elements that are shown have one width. */
function formatOf(block: Block, isShort: boolean): Format {
  const elements = shownElements(block, isShort)
  const { dtype } = block
  if (isComplex(dtype)) {
    const re = realFormat(
      elements.map((element) => (element as Complex).re),
      dtype,
    )
    const im = realFormat(
      elements.map((element) => (element as Complex).im),
      dtype,
      true,
    )
    return (element) => {
      const { re: real, im: imaginary } = element as Complex
      const text = im(imaginary)
      // The unit follows the digits; what pads them comes after.
      const digits = text.trimEnd()
      return `${re(real)}${digits}j${' '.repeat(text.length - digits.length)}`
    }
  }
  if (isFloating(dtype)) {
    const format = realFormat(elements as number[], dtype)
    return (element) => format(element as number)
  }
  const textOf = (element: unknown): string =>
    typeof element === 'boolean' ? (element ? 'True' : 'False') : String(element)
  const width = Math.max(...elements.map((element) => textOf(element).length))
  return (element) => textOf(element).padStart(block.shape.length === 0 ? 0 : width)
}

function shownElements(block: Block, isShort: boolean): unknown[] {
  const elements: unknown[] = []
  const visit = (axis: number, place: number): void => {
    if (axis === block.shape.length) {
      elements.push(elementAt(block, place))
      return
    }
    for (const index of shownIndices(block.shape[axis]!, isShort))
      if (index !== undefined) visit(axis + 1, place + index * block.strides[axis]!)
  }
  visit(0, block.offset)
  return elements
}

/** Numbers as NumPy's FloatingFormat prints them: as few digits as tell them apart, with their points in one column. */
function realFormat(values: readonly number[], dtype: DType, isSigned = false): (value: number) => string {
  const finite = values.filter(Number.isFinite)
  const sizes = finite.filter((value) => value !== 0).map(Math.abs)
  const [greatest, least] = [Math.max(...sizes), Math.min(...sizes)]
  const cutoff = dtype.bytes / dtype.lanes === 4 ? 1e6 : 1e8
  const isScientific = sizes.length > 0 && (greatest >= cutoff || least < 1e-4 || greatest / least > 1000)
  const digitsOf = isScientific ? scientificDigits : positionalDigits
  const parts = finite.map((value) => digitsOf(value, dtype))
  const fraction = Math.max(0, ...parts.map((part) => part.fraction.length))
  const sign = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : isSigned ? '+' : '')
  const textOf = (value: number): string => {
    if (Number.isNaN(value)) return isSigned ? '+nan' : 'nan'
    if (!Number.isFinite(value)) return `${sign(value)}inf`
    const part = digitsOf(value, dtype)
    const digits = isScientific ? part.fraction.padEnd(fraction, '0') : part.fraction
    return `${sign(value)}${part.whole}.${digits}${part.exponent}`
  }
  const left = Math.max(0, ...finite.map((value, index) => (sign(value) + (parts[index]?.whole ?? '')).length))
  const exponent = Math.max(0, ...parts.map((part) => part.exponent.length))
  const special = Math.max(0, ...values.filter((value) => !Number.isFinite(value)).map((value) => textOf(value).length))
  const width = finite.length === 0 ? special : Math.max(left + 1 + fraction + exponent, special)
  return (value) => {
    if (!Number.isFinite(value)) return textOf(value).padStart(width)
    const point = textOf(value).indexOf('.')
    const start = Math.max(left, width - (1 + fraction + exponent))
    return textOf(value)
      .padStart(textOf(value).length + start - point)
      .padEnd(width)
  }
}

interface Digits {
  readonly whole: string
  readonly fraction: string
  readonly exponent: string
}

/** The fewest digits that are this number and no other of its type, as one decimal numeral. */
function shortest(value: number, dtype: DType): number {
  if (dtype.bytes / dtype.lanes === 8) return value
  for (let digits = 1; digits < 9; digits += 1) {
    const near = Number(value.toPrecision(digits))
    if (Math.fround(near) === value) return near
  }
  return value
}

function positionalDigits(value: number, dtype: DType): Digits {
  const text = withoutExponent(roundedTo(shortest(Math.abs(value), dtype)))
  const [whole = '0', fraction = ''] = text.split('.')
  return { whole, fraction: fraction.replace(/0+$/, ''), exponent: '' }
}

/** At most eight digits after the point. */
function roundedTo(value: number): number {
  const text = withoutExponent(value)
  return (text.split('.')[1] ?? '').length > PRECISION ? Number(value.toFixed(PRECISION)) : value
}

function withoutExponent(value: number): string {
  if (!String(value).includes('e')) return String(value)
  return value >= 1 ? BigInt(value).toString() : value.toFixed(20)
}

function scientificDigits(value: number, dtype: DType): Digits {
  const number = shortest(Math.abs(value), dtype)
  const full = number.toExponential()
  const text = full.split('e')[0]!.length > PRECISION + 2 ? number.toExponential(PRECISION) : full
  const [digits = '0', exponent = '+0'] = text.split('e')
  const [whole = '0', fraction = ''] = digits.split('.')
  const size = exponent.slice(1).padStart(2, '0')
  return { whole, fraction: fraction.replace(/0+$/, ''), exponent: `e${exponent[0]}${size}` }
}

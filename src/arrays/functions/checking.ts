import { inspect } from 'node:util'
import { ArrayError, shapeText } from '../errors.ts'
import { ArrayNode } from '../graph/node.ts'
import { RandomGenerator } from '../local/random/generator.ts'
import { isComplexNumber } from '../types/complex.ts'
import { isDType } from '../types/dtype.ts'
import { isScalar } from '../types/scalar.ts'
import { asNode } from './as-node.ts'
import type { ArrayLike } from './entry.ts'
import { type Parameters, parametersOf } from './parameters.ts'

/** What a parameter takes, in words and as a test. */
interface Kind {
  readonly words: string
  readonly fits: (value: unknown) => boolean
}

const isNumber = (value: unknown): boolean => typeof value === 'number'
const isWhole = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint'
const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isInteger(value)
const areWhole = (value: unknown): boolean => isWhole(value) || listOf(value, areWhole)
const areListed = (value: unknown): boolean => listOf(value, isWhole)
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isNode = (value: unknown): boolean => value instanceof ArrayNode
const isText = (value: unknown): boolean => typeof value === 'string'
const isTypeKind = (value: unknown): boolean => isDType(value) || isText(value) || listOf(value, isTypeKind)

function isMatrix(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { shape, indptr, indices, data } = value
  return areListed(shape) && [indptr, indices, data].every(isNode)
}

function listOf(value: unknown, fits: Kind['fits']): boolean {
  return Array.isArray(value) && value.every(fits)
}

/** What the parameters of these names take: in all functions that have them, or in that which is named before. */
const kinds: readonly (readonly [names: string, words: string, fits: Kind['fits']])[] = [
  ['correction d high low mean deviation minlength n n_cols n_rows num', 'a number', isWhole],
  ['k offset', 'a whole number', isInteger],
  ['shift', 'a whole number or a list of them', (value) => isInteger(value) || listOf(value, isInteger)],
  ['concat.axis', 'a whole number or null', (value) => isWhole(value) || value === null],
  ['axes axis destination repetitions s shape shapes size source', 'a whole number or a list of them', areWhole],
  ['broadcast_shapes.shapes sparse.from_triplets.shape', 'a list of whole numbers', areListed],
  ['broadcast_to.shape permute_dims.axes reshape.shape s tile.repetitions', 'a list of whole numbers', areListed],
  ['fft.fftn.axes fft.ifftn.axes fft.rfftn.axes fft.irfftn.axes', 'a list of whole numbers', areListed],
  ['copy density descending endpoint fullMatrices hermitian includeInitial', 'true or false', isBoolean],
  ['invert keepdims stable upper', 'true or false', isBoolean],
  ['fill_value start step stop', 'a scalar', isScalar],
  ['ord', "a number, 'fro' or 'nuc'", (value) => isWhole(value) || isText(value)],
  ['repeats', 'a whole number, a list or an array', (value) => areWhole(value) || isNode(value)],
  ['bins', 'a number, a list or an array', (value) => isWhole(value) || isNode(value) || listOf(value, isNumber)],
  ['q', 'a number, a list or an array', (value) => isNumber(value) || isNode(value) || listOf(value, isNumber)],
  ['rtol', 'a number or an array', (value) => isWhole(value) || isNode(value)],
  ['range', 'a list of two numbers', (value) => listOf(value, isNumber) && (value as unknown[]).length === 2],
  ['indexing method mode norm side subscripts', 'text', isText],
  ['arrays', 'a list of arrays', Array.isArray],
  ['dtype to', 'a data type, such as xp.float64', isDType],
  ['from_ type', 'a data type or an array', (value) => isDType(value) || isNode(value)],
  ['kind', 'a data type, the name of a kind, or a list of them', isTypeKind],
  ['device', "'cpu'", (value) => value === 'cpu'],
  ['seed', 'a whole number, or { key, counter }', (value) => isWhole(value) || isRecord(value)],
  ['population', 'a whole number or an array', (value) => isWhole(value) || isNode(value)],
  ['matrix', 'a matrix of xp.sparse: { shape, indptr, indices, data }', isMatrix],
  ['generator', 'a generator of xp.random.generator()', (value) => value instanceof RandomGenerator],
]

const kindOf: ReadonlyMap<string, Kind> = new Map(
  kinds.flatMap(([names, words, fits]) => names.split(' ').map((name) => [name, { words, fits }] as const)),
)

/** Options that are arrays, for which lists may stand. */
const ARRAY_OPTIONS: ReadonlySet<string> = new Set(['append', 'prepend', 'sorter', 'weights'])

/**
 * The operands of a function of the namespace, of which those that are no arrays are what their parameters take. What
 * may be left out is undefined where null was given, Python's None. Bounds are looked at by the functions.
 *
 * @throws ArrayError
 */
export function checkedOperands(name: string, text: string, operands: readonly unknown[]): readonly unknown[] {
  const parameters = parametersOf(text)
  const { positional, isVariadic, options } = parameters
  if (parameters.areArrays && operands.length === parameters.required) return operands
  const given = operands.map((operand, index) => {
    const isLast = index === operands.length - 1
    if (isLast && options.size > 0 && index >= parameters.required && isRecord(operand))
      return checkedOptions(name, options, operand)
    return checkedOperand(name, parameters, operand, index)
  })
  // Options may follow any operand that others need not.
  if (options.size > 0 && !isVariadic && given.length <= positional.length && isRecord(given.at(-1))) {
    const last = given.length - 1
    if (last >= parameters.required)
      given.splice(last, 0, ...new Array<undefined>(positional.length - last).fill(undefined))
  }
  const after = given[positional.length]
  if (options.size > 0 && !isVariadic && after !== undefined && !isRecord(after))
    throw new ArrayError('TYPE', `${name}() takes its options as one object at the end, not ${shown(after)}`)
  const most = positional.length + Math.min(1, options.size)
  // What is left out at the end is not there, so that options come last.
  while (given.length > parameters.required && given.length > 0 && given.at(-1) === undefined) given.pop()
  if (given.length > most && !isVariadic)
    throw new ArrayError(
      'TYPE',
      `${name}() takes ${most} ${most === 1 ? 'operand' : 'operands'} at most, not ${given.length}`,
    )
  for (let index = given.length; index < parameters.required; index += 1) check(name, positional[index]!, undefined)
  return given
}

function checkedOperand(name: string, parameters: Parameters, operand: unknown, index: number): unknown {
  const { positional, isVariadic, required } = parameters
  if (index >= required && operand === null && !isVariadic) return undefined
  const isRest = isVariadic && index >= positional.length - 1
  const parameter = positional[isRest ? positional.length - 1 : index]
  if (parameter === undefined || (index >= required && !isRest && operand === undefined)) return operand
  // Of `*arrays` each operand is one array, or what stands for one.
  if (!isRest || parameter !== 'arrays') check(name, parameter, operand)
  else if (isRecord(operand)) throw new ArrayError('TYPE', `${name}() takes arrays, not ${shown(operand)}`)
  return operand
}

function checkedOptions(
  name: string,
  known: ReadonlySet<string>,
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const checked: Record<string, unknown> = {}
  for (const [option, value] of Object.entries(options)) {
    if (!known.has(option))
      throw new ArrayError(
        'TYPE',
        `${name}() got an unexpected keyword argument '${option}'; it takes ${[...known].join(', ')}`,
      )
    if (value === undefined || (value === null && kindFor(name, option)?.fits(null) !== true)) continue
    check(name, option, value)
    checked[option] = ARRAY_OPTIONS.has(option) ? asNode(value as ArrayNode | ArrayLike) : value
  }
  return checked
}

function kindFor(name: string, parameter: string): Kind | undefined {
  let own = kindsOf.get(name)
  if (own === undefined) {
    own = new Map()
    kindsOf.set(name, own)
  }
  let kind = own.get(parameter)
  if (kind === undefined) {
    kind = kindOf.get(`${name}.${parameter}`) ?? kindOf.get(parameter) ?? ANYTHING
    own.set(parameter, kind)
  }
  return kind === ANYTHING ? undefined : kind
}

const ANYTHING: Kind = { words: '', fits: () => true }
/** By function and parameter: a text of both would be made for each operand of each call. */
const kindsOf = new Map<string, Map<string, Kind>>()

function check(name: string, parameter: string, value: unknown): void {
  const kind = kindFor(name, parameter)
  if (kind !== undefined && !kind.fits(value))
    throw new ArrayError('TYPE', `${parameter} of ${name}() must be ${kind.words}, not ${shown(value)}`)
}

function shown(value: unknown): string {
  if (value instanceof ArrayNode) return `an array of shape ${shapeText(value.shape)}`
  return inspect(value, { depth: 0, maxStringLength: 20, maxArrayLength: 3 })
}

/** Is it an object that has options, and nothing that has a meaning as a whole? */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || isComplexNumber(value) || isDType(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

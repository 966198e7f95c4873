import { camel } from './entry.ts'

/** The parameters of a function, read from its signature as Python writes it. */
export interface Parameters {
  /** The names of what is positional, in order; those that take any number, as `*arrays`, without the star. */
  readonly positional: readonly string[]
  /** Does the last of them take all that is left? */
  readonly isVariadic: boolean
  /** How many of them stand first that have no default. */
  readonly required: number
  /** Are these arrays, or what stands for one? Then they take anything. */
  readonly areArrays: boolean
  /** The names of the others, in camelCase, which are given by name in one object. */
  readonly options: ReadonlySet<string>
}

/** `x1, x2, /, *, axis=-1` has x1 and x2. */
export function parametersOf(text: string): Parameters {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const names = text.split(',').map((part) => part.trim())
  const star = names.findIndex((name) => name.startsWith('*'))
  const isVariadic = star >= 0 && names[star] !== '*'
  const end = star < 0 ? names.length : isVariadic ? star + 1 : star
  const positional = names.slice(0, end).filter((name) => name !== '' && name !== '/')
  const required = positional.filter((name) => !/[*=]/.test(name))
  const parameters = {
    positional: positional.map((name) => name.replace(/^\*/, '').split(/[=:]/)[0]!.trim()),
    isVariadic,
    required: required.length,
    areArrays: required.every((name) => /^x[12]?$/.test(name)),
    options: new Set(star < 0 ? [] : names.slice(star + 1).map((name) => camel(name.split('=')[0]!))),
  }
  parsed.set(text, parameters)
  return parameters
}

const parsed = new Map<string, Parameters>()

import { ArgumentError } from '../errors.ts'
import { mustBe } from './checks.ts'
import { nearestWord } from './nearest-word.ts'
import { shown } from './shown.ts'

type KeyOf<T> = T extends unknown ? keyof T : never

/** Every name of `T`. The compiler complains if one is missing, and if one is too many. */
export type OptionNames<T> = { readonly [Name in KeyOf<T>]-?: true }

/**
 * Checks that `options` is an object with known names, so that no misspelt option is ignored. It looks at nothing but
 * the names: the values are checked where they are used.
 *
 * An option whose value is undefined counts as not given, whatever its name: `{ ...settings, old: undefined }`.
 *
 * @throws ArgumentError with the name that was probably meant, or all names.
 */
export function checkOptions<T>(
  call: string,
  options: T | undefined,
  names: OptionNames<T>,
  argument: string = 'options',
): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null) throw noOptions(call, options, names, argument)
  const given = Object.keys(options) as (keyof T & string)[]
  for (const name of given)
    if ((names as Names)[name] !== true && options[name] !== undefined) throw unknown(call, name, names, argument)
  if (given.length === 0 && !mayBeOptions(options, names)) throw noOptions(call, options, names, argument)
}

/**
 * Checks the options of a call that only `signal` can end.
 * @throws ArgumentError; the reason of the signal if it is aborted.
 */
export function checkAbort(call: string, options: { readonly signal?: AbortSignal } | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, ABORT)
  checkSignal('options.signal', options.signal)
}

/**
 * Checks the options of a call that returns an iterator, which rejects with the reason of the signal itself.
 * @throws ArgumentError
 */
export function checkIteration(call: string, options: { readonly signal?: AbortSignal } | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, ABORT)
  checkSignalKind('options.signal', options.signal)
}

/** @throws ArgumentError unless it is a signal; its reason if it is aborted. */
export function checkSignal(argument: string, signal: AbortSignal | undefined): void {
  checkSignalKind(argument, signal)
  signal?.throwIfAborted()
}

/** @throws ArgumentError unless it is a signal, aborted or not. */
export function checkSignalKind(argument: string, signal: AbortSignal | undefined): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw mustBe(argument, 'an AbortSignal, as AbortSignal.timeout() makes', signal)
}

type Names = Readonly<Record<string, true | undefined>>

const ABORT: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true }

/** An AbortController stands for `{ signal }`; but a Map (which has a `size`), a Date and a Promise are no options. */
function mayBeOptions(options: object, names: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(options)
  // That of an object of another realm, such as a vm context, ends the chain as ours does.
  if (prototype === null || (Object.getPrototypeOf(prototype) === null && !Array.isArray(options))) return true
  return options instanceof AbortController && 'signal' in names
}

function noOptions(call: string, options: unknown, names: object, argument: string): ArgumentError {
  const [first = ''] = Object.keys(names)
  const rule = `${argument} of ${call} must be an object such as { ${first} }`
  return new ArgumentError(argument, `${rule}, not ${shown(options)}`)
}

function unknown(call: string, name: string, names: object, argument: string): ArgumentError {
  const known = Object.keys(names)
  const near = nearestWord(name, known)
  const advice = near === undefined ? `pass only ${known.join(', ')}` : `did you mean '${near}'?`
  const what = argument === 'options' ? `unknown option '${name}' of` : `unknown name '${name}' in ${argument} of`
  return new ArgumentError(`${argument}.${name}`, `${what} ${call}; ${advice}`)
}

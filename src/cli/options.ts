import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearestWord } from '../native/index.ts'
import { UsageError } from './usage-error.ts'

/** Options in the form of util.parseArgs. */
export type OptionTable = NonNullable<ParseArgsConfig['options']>

/** Parsed options and positional arguments. */
export type ParsedArguments<T extends OptionTable> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>
>

/**
 * util.parseArgs, with its errors as UsageErrors of `command`.
 * @throws UsageError for an unknown option, a missing value, or positionals beyond `positionalsMax`.
 */
export function parseOptions<const T extends OptionTable>(
  command: string,
  args: readonly string[],
  options: T,
  positionalsMax: number = 0,
): ParsedArguments<T> {
  const parsed = parseStrictly(command, args, options)
  const extra = parsed.positionals[positionalsMax]
  if (extra !== undefined) throw new UsageError(`'${extra}' is one argument too many`, command)
  return parsed
}

function parseStrictly<T extends OptionTable>(
  command: string,
  args: readonly string[],
  options: T,
): ParsedArguments<T> {
  try {
    return parseArgs({ args: withNegativeValues(args, options), options, allowPositionals: true, strict: true })
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    // The first sentence says what is wrong. The rest is advice about positional arguments that begin with a dash,
    // which no command has.
    const what = cause.message.split('. ')[0]!
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(what) ?? []
    throw new UsageError(unknown === undefined ? what : unknownOption(unknown, options), command, { cause })
  }
}

/** `-n -1` as `--ranks=-1`: a number is a value, for the command to judge. parseArgs takes it for an option. */
function withNegativeValues(args: readonly string[], options: OptionTable): string[] {
  const valued = new Map<string, string>()
  for (const [name, { type, short }] of Object.entries(options)) {
    if (type !== 'string') continue
    valued.set(`--${name}`, name)
    if (short !== undefined) valued.set(`-${short}`, name)
  }
  return args.flatMap((word, at) => {
    const name = valued.get(word)
    if (name !== undefined && /^-\d/.test(args[at + 1] ?? '')) return [`--${name}=${args[at + 1]}`]
    return /^-\d/.test(word) && valued.has(args[at - 1] ?? '') ? [] : [word]
  })
}

function unknownOption(typed: string, options: OptionTable): string {
  const names = [...Object.keys(options), 'help']
  const word = typed.replace(/^-+/, '')
  const near = names.find((name) => word !== '' && name.startsWith(word)) ?? nearestWord(word, names)
  const advice =
    near === undefined ? `the options are ${names.map((name) => `--${name}`).join(', ')}` : `did you mean '--${near}'?`
  return `there is no option '${typed}'; ${advice}`
}

/** An integer option. @throws UsageError unless `text` is an integer within the bounds. */
export function integerOption(command: string, option: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`${option} takes an integer from ${min} to ${max}, not '${text}'`, command)
}

/** A number of seconds. @throws UsageError unless it is one within the bounds. */
export function secondsOption(command: string, option: string, text: string, min: number, max: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= min && value <= max) return value
  throw new UsageError(`${option} takes a number of seconds from ${min} to ${max}, not '${text}'`, command)
}

/** One of a few words. @throws UsageError for any other. */
export function wordOption<const W extends string>(
  command: string,
  option: string,
  text: string,
  words: readonly W[],
): W {
  const word = words.find((each) => each === text)
  if (word !== undefined) return word
  throw new UsageError(`${option} takes ${words.join(' or ')}, not '${text}'`, command)
}

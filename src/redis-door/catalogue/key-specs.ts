import { latin1Of } from '../../index-service/index.ts'

/**
 * Where keys stand in a command, counted with its name as 0, and what is done to them. As text, several with `/`
 * between:
 *
 * - `RO.access@1:0,1,0`: from 1 on. Range: the last one (here the first; -1 is the last argument), step, limit (2: the
 *   first half of the rest).
 * - `RO.access@2#0,1,1`: from 2 on. Their number is at 0 from there, the first one at 1; step.
 * - `RO.access@STREAMS.1:-1,1,2`: behind a word, which is looked for from 1 on.
 * - `RO.access@?`: it takes more than this to tell.
 */
export interface KeySpec {
  readonly flags: readonly string[]
  readonly begin:
    | { readonly index: number }
    | { readonly keyword: string; readonly from: number }
    /** It cannot be said. */
    | undefined
  readonly find:
    | { readonly last: number; readonly step: number; readonly limit: number }
    | { readonly countAt: number; readonly first: number; readonly step: number }
    | undefined
}

/** Where a key stands among the arguments, without the name, and the flags of its spec. */
export interface FoundKey {
  readonly at: number
  readonly flags: readonly string[]
}

export function keySpecsOf(text: string): readonly KeySpec[] {
  return text === '-' ? [] : text.split('/').map(keySpecOf)
}

function keySpecOf(text: string): KeySpec {
  const [flags, rest] = text.split('@') as [string, string]
  const [begin, find] = rest.split(/[:#]/) as [string, string | undefined]
  return {
    flags: flags.split('.'),
    begin: begin === '?' ? undefined : beginOf(begin),
    find: find === undefined ? undefined : findOf(find, rest.includes('#')),
  }
}

function beginOf(text: string): KeySpec['begin'] {
  const [keyword, from] = text.split('.')
  return from === undefined ? { index: Number(text) } : { keyword: keyword!, from: Number(from) }
}

function findOf(text: string, isCounted: boolean): KeySpec['find'] {
  const [one, two, three] = text.split(',').map(Number) as [number, number, number]
  return isCounted ? { countAt: one, first: two, step: three } : { last: one, step: two, limit: three }
}

/** The keys of a command; undefined if that cannot be told by its specs, or its arguments make no sense. */
export function findKeys(specs: readonly KeySpec[], args: readonly Uint8Array[]): readonly FoundKey[] | undefined {
  const found: FoundKey[] = []
  for (const spec of specs) {
    const keys = findKeysBy(spec, args)
    if (keys === undefined) return undefined
    found.push(...keys)
  }
  return found
}

function findKeysBy({ begin, find, flags }: KeySpec, args: readonly Uint8Array[]): readonly FoundKey[] | undefined {
  if (begin === undefined || find === undefined) return undefined
  const start = 'index' in begin ? begin.index - 1 : positionBehind(begin.keyword, begin.from - 1, args)
  if (start === undefined) return []
  let [first, last] = [start, start]
  if ('countAt' in find) {
    const count = Number(latin1Of((args[start + find.countAt] ?? new Uint8Array()).subarray(0, 12)))
    if (!Number.isInteger(count) || count < 0) return undefined
    first = start + find.first
    last = first + (count - 1) * find.step
  } else if (find.last >= 0) last = start + find.last
  else if (find.limit > 1) last = start + Math.floor((args.length - start) / find.limit) + find.last
  else last = args.length + find.last
  if (last >= args.length) return undefined
  const keys: FoundKey[] = []
  for (let at = first; at <= last; at += find.step) keys.push({ at, flags })
  return keys
}

function positionBehind(keyword: string, from: number, args: readonly Uint8Array[]): number | undefined {
  for (let at = from; at < args.length; at += 1)
    if (args[at]!.length === keyword.length && latin1Of(args[at]!).toUpperCase() === keyword) return at + 1
  return undefined
}

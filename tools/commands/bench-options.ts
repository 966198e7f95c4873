import type { ParsedArguments } from 'aether-dsm/internal/cli'
import { integerOption, UsageError, wordOption } from 'aether-dsm/internal/cli'
import type { PeerName } from '../bench/peers/peer-name.ts'
import { peerNames } from '../bench/peers/peer-name.ts'

const texts = [
  'device',
  'sizes',
  'time-ms',
  'depths',
  'clients',
  'peers',
  'loads',
  'rounds',
  'ranks',
  'page-sizes',
  'iterations',
  'coherence',
  'cell-ms',
  'spin-ms',
  'nodes',
  'collectives',
  'stores',
  'processes',
  'kills',
  'sections',
  'restart-mib',
  'value-sizes',
  'keys',
  'writes',
  'suites',
  'size',
  'directory',
  'elements',
  'threads',
  'trace',
  'compare',
  'html',
] as const
const flags = ['full', 'stages', 'json'] as const

export type BenchOption = (typeof texts)[number] | (typeof flags)[number]

/** Options of all benchmarks. Each benchmark takes some of them, with its own defaults. */
export const benchOptionTable: Readonly<Record<(typeof texts)[number], { readonly type: 'string' }>> &
  Readonly<Record<(typeof flags)[number], { readonly type: 'boolean' }>> = {
  ...tableOf(texts, 'string'),
  ...tableOf(flags, 'boolean'),
}

function tableOf<Name extends string, Type extends 'string' | 'boolean'>(
  names: readonly Name[],
  type: Type,
): Record<Name, { readonly type: Type }> {
  return Object.fromEntries(names.map((name) => [name, { type }])) as Record<Name, { readonly type: Type }>
}

/** The given options, as text. */
export type BenchValues = ParsedArguments<typeof benchOptionTable>['values']

/** Options of every benchmark. */
const outputs: readonly BenchOption[] = ['compare', 'html', 'json']

/** @throws UsageError for an option that only other benchmarks take. */
export function checkTaken(name: string, values: BenchValues, takes: readonly BenchOption[]): void {
  const stray = (Object.keys(values) as BenchOption[]).find((option) => ![...takes, ...outputs].includes(option))
  if (stray === undefined) return
  const known = [...takes, ...outputs].map((option) => `--${option}`).join(', ')
  throw new UsageError(`--${stray} is not for bench ${name}, which takes ${known}`, 'bench')
}

export const deviceDefault = 'shm0'
export const sizeMax: number = 2 ** 30
export const depthMax = 4096
export const clientsMax = 256
const timeMsMax = 60_000

/** The distinct numbers of a list, all within the bounds; `fallback` if there is no list. */
export function numbersOf(
  option: BenchOption,
  text: string | undefined,
  fallback: readonly number[],
  min: number,
  max: number,
): readonly number[] {
  if (text === undefined) return fallback
  return [...new Set(text.split(',').map((each) => integerOption('bench', `--${option}`, each, min, max)))]
}

/** The distinct words of a list, all from `words`; all words if the list is missing or `all`. */
export function wordsOf<W extends string>(
  option: BenchOption,
  text: string | undefined,
  words: readonly W[],
): readonly W[] {
  if (text === undefined || text === 'all') return words
  return [...new Set(text.split(',').map((word) => wordOption('bench', `--${option}`, word, words)))]
}

export function millisecondsOf(
  option: 'time-ms' | 'cell-ms' | 'spin-ms',
  text: string | undefined,
  fallback: number,
  min = 1,
): number {
  return text === undefined ? fallback : integerOption('bench', `--${option}`, text, min, timeMsMax)
}

export function peersOf(text: string | undefined): readonly PeerName[] {
  return text === 'none' ? [] : wordsOf('peers', text, peerNames)
}

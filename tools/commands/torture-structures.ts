import { ExitCode, formatCount, integerOption, Screen, wordOption } from 'aether-dsm/internal/cli'
import {
  runStructureTorture,
  type StructurePlace,
  type StructureTortureResult,
  structurePlaces,
  tortureStructures,
} from '../structure-torture/index.ts'

/** Options of `aether torture structures`, as text. */
export interface TortureStructuresValues {
  readonly structures: string
  readonly seconds?: string | undefined
  readonly 'round-seconds': string
  readonly processes: string
  readonly 'kill-every'?: string | undefined
  readonly 'stop-every': string
  readonly 'stop-for': string
  readonly lease: string
  readonly size: string
  readonly place: string
  readonly seed: string
  readonly json: boolean
}

const MEBIBYTE = 2 ** 20

/** `aether torture structures`. */
export async function runTortureStructures(values: TortureStructuresValues): Promise<number> {
  const whole = (option: string, text: string, min: number, max: number): number =>
    integerOption('torture', `--${option}`, text, min, max)
  const list = <W extends string>(option: string, text: string, words: readonly W[]): readonly W[] =>
    text === 'all' ? words : text.split(',').map((word) => wordOption('torture', `--${option}`, word.trim(), words))
  const killEvery = values['kill-every']
  const screen = new Screen(values.json ? undefined : process.stdout)
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const results = await runStructureTorture({
    structures: list('structures', values.structures, tortureStructures),
    places: list<StructurePlace>('place', values.place, structurePlaces),
    seconds: whole('seconds', values.seconds ?? '30', 1, 86_400),
    roundSeconds: whole('round-seconds', values['round-seconds'], 1, 3600),
    processes: whole('processes', values.processes, 1, 15),
    ...(killEvery === undefined ? {} : { killEveryMs: whole('kill-every', killEvery, 1, 3_600_000) }),
    stopEveryMs: whole('stop-every', values['stop-every'], 1, 3_600_000),
    stopMsMax: whole('stop-for', values['stop-for'], 1, 60_000),
    leaseMs: whole('lease', values.lease, 500, 600_000),
    sizeBytes: MEBIBYTE * whole('size', values.size, 4, 4096),
    seed: whole('seed', values.seed, 0, 2 ** 31 - 1),
    signal: interrupted.signal,
    onEvent: (text) => screen.progress(text),
  })
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  if (values.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
  else for (const result of results) show(screen, result)
  return results.every((result) => wrongsOf(result).length === 0) ? ExitCode.Done : ExitCode.Failed
}

const columns = [
  { title: 'structure', align: 'left' as const },
  ...['acknowledged', 'refused', 'cut short', 'wrong'].map((title) => ({ title, align: 'right' as const })),
]
const agesShown = 4
const ageColumns = [
  { title: 'versions seen, by age', align: 'left' as const },
  ...['0', '1', '2', '3 and more'].map((title) => ({ title, align: 'right' as const })),
]

const placeInWords: Readonly<Record<StructurePlace, string>> = {
  machine: 'processes of one machine',
  directory: 'a space in a directory, all of its processes killed at once',
  group: 'ranks of a group',
  homes: 'ranks of a group, one of its two homes killed',
}

/** The maximum number printed, because one mistake shows in many ways. */
const TOLD_MAX = 12

function show(screen: Screen, result: StructureTortureResult): void {
  const { place, seconds, rounds, kills, stops, reopenings, checks, structures, bytesLeft } = result
  const counts = `${rounds} rounds, ${formatCount(kills)} kills, ${formatCount(stops)} stops in ${seconds.toFixed(1)} s`
  screen.line(`${placeInWords[place]}: ${counts}`)
  if (place === 'directory')
    screen.line(`opened again ${formatCount(reopenings)} times, and checked before that ${formatCount(checks)} times`)
  screen.table(
    columns,
    structures.map(({ structure, operations, refused, cutShort, wrong }) => [
      structure,
      ...[operations, refused, cutShort, wrong.length].map((count) => formatCount(count)),
    ]),
  )
  const aged = structures.filter(({ ages }) => ages.length > 0)
  if (aged.length > 0) {
    screen.line()
    screen.table(
      ageColumns,
      aged.map(({ structure, ages }) => [structure, ...shortened(ages).map((count) => formatCount(count))]),
    )
  }
  if (bytesLeft.length > 0)
    screen.line(`\nmemory in use when emptied, less that of a space without kills: ${bytesLeft.join(', ')} bytes`)
  const wrong = wrongsOf(result)
  for (const text of wrong.slice(0, TOLD_MAX)) screen.line(`\n${text}`)
  if (wrong.length > TOLD_MAX) screen.line(`… and ${wrong.length - TOLD_MAX} more`)
  screen.line(
    `\n${wrong.length === 0 ? screen.paint('green', 'nothing was wrong') : screen.paint('red', `${wrong.length} things were wrong`)}\n`,
  )
}

/** Sums up the ages that have no column of their own in the last one. */
function shortened(ages: readonly number[]): readonly number[] {
  const older = ages.slice(agesShown - 1).reduce((sum, count) => sum + count, 0)
  return [...ages.slice(0, agesShown - 1), older]
}

function wrongsOf({ structures, wrong }: StructureTortureResult): readonly string[] {
  return [...structures.flatMap((each) => each.wrong.map((text) => `${each.structure}: ${text}`)), ...wrong]
}

import { cpus, release } from 'node:os'
import { benchDsm } from './bench/dsm.ts'
import type { DsmRow } from './bench/dsm-row.ts'
import { showDsmBench } from './bench-dsm-view.ts'
import { ExitCode } from './command.ts'
import { integerOption } from './options.ts'
import { Screen } from './output/screen.ts'

const ranksMax = 16
const pageBytesMax = 2 ** 22
const iterationsMax = 1_000_000

/** The options that `aether bench dsm` takes, as text. */
export interface DsmBenchValues {
  readonly ranks: string
  readonly 'page-sizes': string
  readonly iterations: string
  readonly json: boolean
}

/** `aether bench dsm`. */
export async function runDsmBench(values: DsmBenchValues): Promise<number> {
  const list = (option: string, text: string, min: number, max: number): number[] =>
    text.split(',').map((each) => integerOption('bench', option, each, min, max))
  const ranks = list('--ranks', values.ranks, 2, ranksMax)
  const pageBytes = list('--page-sizes', values['page-sizes'], 4096, pageBytesMax)
  const iterations = integerOption('bench', '--iterations', values.iterations, 10, iterationsMax)
  const screen = new Screen(values.json ? undefined : process.stdout)
  const [processor] = cpus()
  screen.line(`dsm on ${cpus().length} processors, ${processor?.model ?? 'of unknown kind'}, Linux ${release()}`)
  screen.line()
  const onRow = ({ op }: DsmRow): void => screen.progress(`${op}, done …`)
  const rows = await benchDsm({ ranks, pageBytes, iterations, onRow })
  showDsmBench(screen, rows)
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return ExitCode.Done
}

import { cpus, release } from 'node:os'
import { benchDsm, protocolKinds } from './bench/dsm.ts'
import type { DsmRow } from './bench/dsm-row.ts'
import { showDsmBench } from './bench-dsm-view.ts'
import { ExitCode } from './command.ts'
import { integerOption, wordOption } from './options.ts'
import { Screen } from './output/screen.ts'

const ranksMax = 16
const pageBytesMax = 2 ** 22
const iterationsMax = 1_000_000
const cellMsMax = 60_000

/** The options that `aether bench dsm` takes, as text. */
export interface DsmBenchValues {
  readonly coherence: string
  readonly ranks: string
  readonly 'page-sizes': string
  readonly iterations: string
  readonly 'cell-ms': string
  readonly json: boolean
}

/** `aether bench dsm`. */
export async function runDsmBench(values: DsmBenchValues): Promise<number> {
  const list = (option: string, text: string, min: number, max: number): number[] =>
    text.split(',').map((each) => integerOption('bench', option, each, min, max))
  const ranks = list('--ranks', values.ranks, 2, ranksMax)
  const pageBytes = list('--page-sizes', values['page-sizes'], 4096, pageBytesMax)
  const coherence =
    values.coherence === 'all'
      ? protocolKinds
      : values.coherence.split(',').map((word) => wordOption('bench', '--coherence', word, protocolKinds))
  const iterations = integerOption('bench', '--iterations', values.iterations, 10, iterationsMax)
  const cellMs = integerOption('bench', '--cell-ms', values['cell-ms'], 0, cellMsMax)
  const screen = new Screen(values.json ? undefined : process.stdout)
  const [processor] = cpus()
  screen.line(`dsm on ${cpus().length} processors, ${processor?.model ?? 'of unknown kind'}, Linux ${release()}`)
  screen.line()
  const onRow = ({ op, coherence: kind }: DsmRow): void => screen.progress(`${kind}: ${op}, done …`)
  const rows = await benchDsm({ coherence, ranks, pageBytes, iterations, cellMs, onRow })
  showDsmBench(screen, rows)
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return ExitCode.Done
}

import type { Command } from 'aether-dsm/internal/cli'
import { parseOptions, UsageError, withTraceFile } from 'aether-dsm/internal/cli'
import { nearestWord } from 'aether-dsm/internal/native'
import type { CommonName } from '../bench/results/common-kinds.ts'
import { allBenchesOf, allTakes, suiteNames } from './bench-all.ts'
import { arraysBenchOf, arraysTakes } from './bench-arrays.ts'
import { collectivesBenchOf, collectivesTakes } from './bench-collectives.ts'
import { commonBenchOf, commonTakes } from './bench-common.ts'
import { dsmBenchOf, dsmTakes } from './bench-dsm.ts'
import { benchHelp } from './bench-help.ts'
import { indexBenchOf, indexTakes } from './bench-index.ts'
import { type BenchOption, type BenchValues, benchOptionTable, checkTaken } from './bench-options.ts'
import { type PreparedBench, runBench } from './bench-run.ts'
import { scalingBenchOf, scalingTakes } from './bench-scaling.ts'
import { spacesBenchOf, spacesTakes } from './bench-spaces.ts'
import { structuresBenchOf, structuresTakes } from './bench-structures.ts'

/** A benchmark of the command line: the options that it takes, and what it runs with them. */
interface BenchChoice {
  readonly takes: readonly BenchOption[]
  readonly of: (values: BenchValues) => PreparedBench | readonly PreparedBench[]
}

const choices: Readonly<Record<string, BenchChoice>> = {
  ...Object.fromEntries(
    (Object.keys(commonTakes) as CommonName[]).map((name) => [
      name,
      { takes: commonTakes[name], of: (values: BenchValues) => commonBenchOf(name, values) },
    ]),
  ),
  collectives: { takes: collectivesTakes, of: collectivesBenchOf },
  dsm: { takes: dsmTakes, of: dsmBenchOf },
  scaling: { takes: scalingTakes, of: scalingBenchOf },
  spaces: { takes: spacesTakes, of: spacesBenchOf },
  index: { takes: indexTakes, of: indexBenchOf },
  arrays: { takes: arraysTakes, of: arraysBenchOf },
  structures: { takes: structuresTakes, of: structuresBenchOf },
  all: { takes: allTakes, of: allBenchesOf },
}

/** `aether bench`. */
export const benchCommand: Command = {
  help: benchHelp,
  options: benchOptionTable,
  operands: [[...suiteNames, 'all']],

  async run(args) {
    const { values, positionals } = parseOptions('bench', args, benchOptionTable, 1)
    const name = chosen(positionals[0])
    const { takes, of } = choices[name]!
    checkTaken(name, values, takes)
    const benches = of(values)
    const output = { json: values.json === true, compare: values.compare, html: values.html, args }
    if (!('beside' in benches)) return await runBench(name, benches, output, true)
    const run = (): Promise<number> => runBench(name, [benches], output)
    return await (takes.includes('trace') ? withTraceFile('bench', values.trace, run) : run())
  },
}

/** @throws UsageError if there is no such benchmark. */
function chosen(name: string | undefined): string {
  const names = [...suiteNames, 'all']
  if (name === undefined) throw new UsageError(`the name of the benchmark is missing: ${names.join(' or ')}`, 'bench')
  if (names.includes(name)) return name
  const near = nearestWord(name, names)
  const hint = near === undefined ? names.join(' or ') : `did you mean '${near}'?`
  throw new UsageError(`there is no benchmark '${name}'; ${hint}`, 'bench')
}

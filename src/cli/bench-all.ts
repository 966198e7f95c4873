import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { protocols } from '../dsm/index.ts'
import { collectiveNames } from '../messaging/index.ts'
import { AetherError } from '../native/index.ts'
import { benchCollectives } from './bench/collectives.ts'
import { commonSuites } from './bench/common-suites.ts'
import { beforeRatio, readRun } from './bench/compare.ts'
import { benchDsm } from './bench/dsm.ts'
import type { OnMissing, PeerName } from './bench/peers/peer-name.ts'
import { type ReportSection, reportPageOfSuites } from './bench/report/report-page.ts'
import type { BenchRow } from './bench/row.ts'
import { countScaling } from './bench/scaling/scaling.ts'
import { storeNames } from './bench/structures/bench-store.ts'
import { benchStructures } from './bench/structures/structures.ts'
import { showCollectivesBench } from './bench-collectives.ts'
import { showDsmBench } from './bench-dsm-view.ts'
import { benchFacts } from './bench-facts.ts'
import { showScalingBench } from './bench-scaling.ts'
import { showStructuresBench } from './bench-structures-view.ts'
import { benchTable, showBench } from './bench-view.ts'
import { ExitCode } from './command.ts'
import { RecordedScreen } from './output/recorded-screen.ts'
import { Screen } from './output/screen.ts'

/** How long each cell is measured unless told otherwise, in milliseconds: an overview, not the last digit. */
export const ALL_TIME_MS = 20
/** Lengths unless others are asked for. */
export const allSizes: readonly number[] = [64, 65_536]
const scalingRanks = [2, 16, 128]

export interface AllBenchOptions {
  readonly suites: readonly string[]
  readonly device: string
  readonly sizes: readonly number[]
  readonly timeMs: number
  readonly peers: readonly PeerName[]
  readonly onMissing: OnMissing
  /** Files, where they are asked for. */
  readonly compare?: string | undefined
  readonly html?: string | undefined
  readonly json: boolean
  /** The command line, for the report. */
  readonly args: readonly string[]
}

type OnRow = (row: { readonly op?: string; readonly miss?: string }) => void

/** What a suite found, and how it is shown. */
interface SuiteRun {
  readonly rows: readonly object[]
  /** Those that charts can be drawn of. */
  readonly common: readonly BenchRow[]
  show(screen: Screen): void
}

const otherSuites: Readonly<Record<string, (options: AllBenchOptions, onRow: OnRow) => Promise<SuiteRun>>> = {
  async collectives({ device, sizes, timeMs }, onRow) {
    const options = { device, collectives: collectiveNames, processes: [2], sizes, cellMs: timeMs, onRow }
    const rows = await benchCollectives(options)
    return { rows, common: [], show: (screen) => showCollectivesBench(screen, rows) }
  },

  async dsm({ timeMs }, onRow) {
    const rows = await benchDsm({ ranks: [2], pageBytes: [4096], iterations: 10 * timeMs, cellMs: timeMs, onRow })
    return { rows, common: [], show: (screen) => showDsmBench(screen, rows) }
  },

  async scaling(_options, onRow) {
    const rows = countScaling({ protocols: [...protocols.values()], ranks: scalingRanks, pageBytes: 4096, onRow })
    return { rows, common: [], show: (screen) => showScalingBench(screen, rows, scalingRanks) }
  },

  async structures({ timeMs }, onRow) {
    const grid = { processes: [1, 2], bytes: [16], keys: ['uniform'], writes: [0, 100] } as const
    const onMissing = (store: string, why: string): void =>
      void process.stderr.write(`without ${store} in structures: ${why}\n`)
    const rows = await benchStructures({ ...grid, stores: storeNames, timeMs, onRow, onMissing })
    return { rows, common: [], show: (screen) => showStructuresBench(screen, rows) }
  },
}

/** In the order in which they run. */
export const suiteNames: readonly string[] = [...Object.keys(commonSuites), ...Object.keys(otherSuites)]

/** `aether bench all`. What fails is said on standard error and makes the status 1; the other suites run all the same. */
export async function runAllBench(options: AllBenchOptions): Promise<number> {
  const { suites, compare, html, json, args } = options
  const screen = new Screen(json ? undefined : process.stdout)
  screen.line(`all on ${availableParallelism()} processors, ${cpus()[0]?.model ?? 'of unknown kind'}`)
  // A file that cannot be read shows here, not after minutes.
  const before = new Map(
    suites.map((name) => [name, compare === undefined ? undefined : readEarlier(compare, name)] as const),
  )
  const rows: object[] = []
  const sections: (ReportSection & { readonly name: string })[] = []
  let status: number = ExitCode.Done
  for (const [index, name] of suites.entries()) {
    const head = `${index + 1} of ${suites.length}, ${name}`
    screen.progress(`${head} …`)
    const run = await runSuite(name, options, before.get(name), ({ op, miss }) =>
      screen.progress(`${head}: ${op ?? miss}, done …`),
    ).catch((error: unknown) => {
      if (!(error instanceof AetherError)) throw error
      process.stderr.write(`without ${name}: ${error.message}\n`)
      status = ExitCode.Failed
      return undefined
    })
    if (run === undefined) continue
    screen.line()
    screen.line(screen.paint('bold', name))
    run.show(screen)
    rows.push(...run.rows.map((row) => ({ suite: name, ...row })))
    const recorded = new RecordedScreen()
    run.show(recorded)
    const { columns, cells, lines } = recorded
    sections.push({ name, rows: run.common, columns, cells, notes: lines })
  }
  if (html !== undefined) writeFileSync(html, reportPageOfSuites('aether bench all', benchFacts(args), sections))
  if (json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return status
}

/** Rows of the suite in the file; undefined of suites that are not compared. */
function readEarlier(file: string, name: string): readonly BenchRow[] | undefined {
  return Object.hasOwn(commonSuites, name) ? readRun(file, name) : undefined
}

async function runSuite(
  name: string,
  options: AllBenchOptions,
  before: readonly BenchRow[] | undefined,
  onRow: OnRow,
): Promise<SuiteRun> {
  const suite = Object.hasOwn(commonSuites, name) ? commonSuites[name] : undefined
  if (suite === undefined) return await otherSuites[name]!(options, onRow)
  const { device, sizes, timeMs, peers } = options
  const onMissing: OnMissing = (peer, why) => options.onMissing(peer, `${why}; ${name} is measured without it`)
  const few = { depths: [1, 16], clients: [2], processes: [2, 4] }
  const common = await suite.run({ device, sizes, timeMs, peers, ...few, onMissing, onRow })
  const rows = before === undefined ? common : common.map((row) => ({ ...row, beforeRatio: beforeRatio(row, before) }))
  return { rows, common, show: (screen) => showBench(screen, benchTable(common, before), suite.notes) }
}

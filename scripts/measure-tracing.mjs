/**
 * What tracing costs: the same work without it, with lines on standard error (read and thrown away) and into a file, in turns, in one run.
 *
 *     npm run build && node scripts/measure-tracing.mjs [--rounds N]
 *
 * Prints medians over the rounds and their ratios to the work without; and what an event costs that nobody listens to, beside the reading of a boolean.
 * A way to run is a name and its environment: others (profiling on, say) are one line in `ways`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { TraceLevel, traceChannel } from '../dist/src/profiling/index.js'

const command = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })
const directory = mkdtempSync(join(tmpdir(), 'aether-measure-'))
const file = join(directory, 'trace.json')

const rooms = ['RDMA', 'CM', 'MESSAGING', 'RPC', 'CLUSTER', 'DSM'].map((room) => `AETHER_TRACE_${room}`)
const linesOf = (level) => ({ ...Object.fromEntries(rooms.map((name) => [name, '1'])), AETHER_TRACE_LEVEL: level })

const ways = [
  { name: 'off', environment: {} },
  { name: 'lines, INFO', environment: linesOf('INFO') },
  { name: 'lines, DEBUG', environment: linesOf('DEBUG') },
  { name: 'file, DEBUG', environment: { AETHER_TRACE_FILE: file, AETHER_TRACE_FILE_MIB: '256' } },
]

/** What is run, and the figures that it gives, by name. */
const works = [
  {
    name: 'bench dsm',
    args: [
      'bench',
      'dsm',
      '--ranks',
      '2',
      '--page-sizes',
      '4096',
      '--coherence',
      'mesi',
      '--iterations',
      '300',
      '--cell-ms',
      '0',
      '--json',
    ],
    figures: (rows) => Object.fromEntries(rows.map(({ op, p50Ns }) => [`${op}, ns`, p50Ns])),
  },
  {
    name: 'demo',
    args: ['demo', '--kron', '12', '--nodes', '2', '--coherence', 'mesi', '--json'],
    figures: ({ pageRank }) => ({ 'PageRank, ms': pageRank.groups[0].totalMs }),
  },
]

/** Its standard output, as JSON. */
function run(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...args], { env: { ...process.env, ...environment } })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.stderr.resume()
    child.on('close', (status) =>
      status === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${args[0]}: ${status}`)),
    )
  })
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** Nanoseconds of an event that nobody listens to, and of reading a boolean, in turns. */
function measureSilence() {
  const trace = traceChannel('measured')
  const flag = { isOn: false }
  const count = 5_000_000
  let wanted = 0
  const guarded = () => {
    const start = process.hrtime.bigint()
    for (let n = 0; n < count; n++) if (trace.wants(TraceLevel.Trace)) wanted++
    return Number(process.hrtime.bigint() - start) / count
  }
  const read = () => {
    const start = process.hrtime.bigint()
    for (let n = 0; n < count; n++) if (flag.isOn) wanted++
    return Number(process.hrtime.bigint() - start) / count
  }
  const rounds = Array.from({ length: 31 }, () => [guarded(), read()])
  return { guardedNs: median(rounds.map(([ns]) => ns)), readNs: median(rounds.map(([, ns]) => ns)), wanted }
}

const { guardedNs, readNs } = measureSilence()
console.log(
  `${cpus().length} processors, ${cpus()[0]?.model ?? 'of unknown kind'}, Linux ${release()}, Node ${process.version}`,
)
console.log(
  `an event that nobody listens to: ${guardedNs.toFixed(2)} ns; a boolean that is read: ${readNs.toFixed(2)} ns`,
)
try {
  for (const work of works) {
    const figures = new Map(ways.map(({ name }) => [name, []]))
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const { name, environment } of ways) figures.get(name).push(work.figures(await run(work.args, environment)))
    }
    console.log(`\n${work.name}, medians of ${values.rounds}, and ratio to off`)
    for (const figure of Object.keys(figures.get('off')[0])) {
      const of = (name) => median(figures.get(name).map((each) => each[figure]))
      const cells = ways.map(({ name }) => `${name} ${Math.round(of(name))} (${(of(name) / of('off')).toFixed(2)})`)
      console.log(`  ${figure}: ${cells.join('; ')}`)
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

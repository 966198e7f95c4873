/**
 * What being watched costs: the demo and `aether bench dsm` with nothing of it, advised, profiled, traced as lines on standard error (read and thrown away) and traced into
 * a file, in turns, in one run.
 *
 *     npm run build && node scripts/measure-overhead.mjs [--rounds N] [--kron SCALE] [demo] [dsm] [silence]
 *
 * Each round runs every way once, each round beginning with another, and gives a ratio to the round's own run without: what the machine does beside it for
 * minutes hits both sides. Printed are tables in Markdown with medians over the rounds, of the time without and of the ratios. `off, again` is the same as `off`:
 * how far its ratio is from 1 is what the others are worth. A larger SCALE (of the demo's graph, default 12) makes that less. Then what is
 * looked at where nothing is watched, beside the reading of a boolean and of the clock; `silence` as the only word prints that alone.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { native } from '../dist/src/native/index.js'
import { TraceLevel, traceChannel } from '../dist/src/profiling/index.js'

const command = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    kron: { type: 'string', default: '12' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
})
if (values.help) {
  console.log(
    'Usage: node scripts/measure-overhead.mjs [--rounds N] [--kron SCALE] [demo] [dsm]\n\nWhat profiling and tracing cost the demo and aether bench dsm, as ratios in tables of Markdown; some minutes.',
  )
  process.exit(0)
}
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`--rounds takes a whole number from 1, not ${values.rounds}`)
const directory = mkdtempSync(join(tmpdir(), 'aether-measure-'))
const file = join(directory, 'trace.json')

const rooms = ['RDMA', 'CM', 'MESSAGING', 'RPC', 'CLUSTER', 'DSM'].map((room) => `AETHER_TRACE_${room}`)
const linesOf = (level) => ({ ...Object.fromEntries(rooms.map((name) => [name, '1'])), AETHER_TRACE_LEVEL: level })

const ways = [
  { name: 'off', environment: {} },
  { name: 'off, again', environment: {} },
  { name: 'advised', environment: { AETHER_ADVISE: '1' } },
  { name: 'profiled', environment: { AETHER_PROFILE: '1' } },
  { name: 'lines, INFO', environment: linesOf('INFO') },
  { name: 'lines, DEBUG', environment: linesOf('DEBUG') },
  { name: 'file, DEBUG', environment: { AETHER_TRACE_FILE: file, AETHER_TRACE_FILE_MIB: '256' } },
]
/** Without what the caller may have set: `off` is to be off. */
const ownEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => name !== 'AETHER_PROFILE' && !name.startsWith('AETHER_ADVISE') && !name.startsWith('AETHER_TRACE_'),
  ),
)

/** What is run, and the figures that it gives, by name. */
const works = [
  {
    word: 'dsm',
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
    figures: (rows) => Object.fromEntries(rows.map(({ op, p50Ns }) => [`${op}, µs`, p50Ns / 1000])),
  },
  {
    word: 'demo',
    name: 'demo',
    args: ['demo', '--kron', values.kron, '--nodes', '2', '--coherence', 'mesi', '--json'],
    figures: ({ pageRank }) => ({ 'PageRank, ms': pageRank.groups[0].totalMs }),
  },
]

/** Its standard output, as JSON. */
function run(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...args], { env: { ...ownEnvironment, ...environment } })
    let text = ''
    let complaint = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.stderr.on('data', (chunk) => (complaint = `${complaint}${chunk}`.slice(-2000)))
    child.on('error', reject)
    child.on('close', (status, signal) =>
      status === 0
        ? resolve(JSON.parse(text))
        : reject(new Error(`${args.join(' ')} ended with ${status ?? signal}:\n${complaint}`)),
    )
  })
}

/** One round: figures by the names of the ways. */
async function play(work, round) {
  const figures = new Map()
  for (let turn = 0; turn < ways.length; turn++) {
    const { name, environment } = ways[(round + turn) % ways.length]
    figures.set(name, work.figures(await run(work.args, environment)))
  }
  return figures
}

function printTable(work, played) {
  const watched = ways.filter(({ name }) => name !== 'off').map(({ name }) => name)
  console.log(`\n| ${work.name} | off | ${watched.join(' | ')} |`)
  console.log(`|---|---|${watched.map(() => '---|').join('')}`)
  for (const figure of Object.keys(played[0].get('off'))) {
    const off = median(played.map((round) => round.get('off')[figure]))
    const ratios = watched.map((name) =>
      median(played.map((round) => round.get(name)[figure] / round.get('off')[figure])),
    )
    console.log(`| ${figure} | ${off.toPrecision(3)} | ${ratios.map((ratio) => ratio.toFixed(2)).join(' | ')} |`)
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** What hot paths look at where nothing is profiled or traced, and what they would pay to look at the clock; nanoseconds each, in turns. */
function measureSilence() {
  const trace = traceChannel('measured')
  const flag = { isOn: false }
  const meter = { of: undefined }
  const count = 5_000_000
  const looks = {
    'a boolean that is read': () => flag.isOn,
    'a meter that is not there': () => meter.of !== undefined,
    'an event that nobody listens to, of a level that is not told': () => trace.wants(TraceLevel.Trace),
    'an event that nobody listens to, of a level that is': () => trace.wants(TraceLevel.Warn),
    'the clock, for comparison': () => native.monotonicNs() < 0,
  }
  let wanted = 0
  const loops = Object.values(looks).map((look, at) => {
    // Of another text each, so that the engine compiles each apart, with its own `look` in the place of the call.
    const body = `let n = 0; for (let i = 0; i < count; i++) if (look()) n++; return n // ${at}`
    const loop = new Function('look', 'count', body)
    return () => {
      const start = process.hrtime.bigint()
      wanted += loop(look, count)
      return Number(process.hrtime.bigint() - start) / count
    }
  })
  const rounds = Array.from({ length: 15 }, () => loops.map((loop) => loop()))
  if (wanted > 0) throw new Error('somebody listens')
  return Object.keys(looks).map((name, at) => [name, median(rounds.map((round) => round[at]))])
}

console.log(
  `${cpus().length} processors, ${cpus()[0]?.model ?? 'of unknown kind'}, Linux ${release()}, Node ${process.version}; medians of ${rounds} rounds`,
)
try {
  const unknown = positionals.find((word) => word !== 'silence' && !works.some((work) => work.word === word))
  if (unknown !== undefined)
    throw new Error(`there is no '${unknown}' here: ${works.map(({ word }) => word).join(', ')}, silence`)
  const wanted = works.filter(({ word }) => positionals.length === 0 || positionals.includes(word))
  for (const work of wanted) {
    const played = []
    for (let round = 0; round < rounds; round++) played.push(await play(work, round))
    printTable(work, played)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
console.log('\n| what is looked at | ns |\n|---|---|')
for (const [name, ns] of measureSilence()) console.log(`| ${name} | ${ns.toFixed(2)} |`)

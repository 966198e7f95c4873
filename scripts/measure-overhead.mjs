/** What profiling, tracing and the adviser cost; see `help` below. */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { isRoundRobin, keepAwake, Measured } from './overhead/process.mjs'
import { playRound, ratioTable } from './overhead/ratios.mjs'
import { ways as waysOfPaths } from './overhead/service.mjs'
import { measureSilence } from './overhead/silence.mjs'

const help = `Usage: node scripts/measure-overhead.mjs [options] [paths] [dsm] [demo] [silence]

What profiling, tracing and the adviser cost, as ratios to the same with everything off, in tables of Markdown; some three minutes. Needs a build.

  paths     the shortest requests, messages and calls, with and without profiling in one process
  dsm       what aether bench dsm does with a page, by two ranks
  demo      the demo's PageRank by two ranks
  silence   what is looked at where nothing is watched, beside the reading of a boolean and of the clock

  --sets N     so many times everything is started anew (default 3)
  --rounds N   so many rounds of each set (default 5)
  --kron N     scale of the demo's graph (default 16)

How: everything stays, and takes turns in short batches: each way twice in a round, there and back. A ratio is the median over the rounds of all sets; in brackets
are the least and the greatest median of a set. 'off, again' is the same as 'off': what its ratios are is what the others are worth. Processors are kept awake by
programs that give way to all others (chrt -i), and what is measured goes before all others where that is allowed (chrt -r, by root).
Of dsm and demo there is the processor time of both ranks and their agents, too, which does not have the waiting in it.`

const { values, positionals } = parseArgs({
  options: {
    sets: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    kron: { type: 'string', default: '16' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
})

function positive(name) {
  const value = Number(values[name])
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`--${name} takes a whole number from 1, not ${values[name]}`)
}

/** Turns of each kind of access in a batch; a batch of a path; batches of a path in a round of a group. */
const MOVES = 40
const BATCH_MS = 3
const PATH_ROUNDS = 10

const directory = mkdtempSync(join(tmpdir(), 'aether-measure-'))
const rooms = ['RDMA', 'CM', 'MESSAGING', 'RPC', 'CLUSTER', 'DSM'].map((room) => `AETHER_TRACE_${room}`)
const ways = new Map([
  ['off', {}],
  ['off, again', {}],
  ['advised', { AETHER_ADVISE: '1' }],
  ['profiled', { AETHER_PROFILE: '1' }],
  ['lines, DEBUG', { ...Object.fromEntries(rooms.map((name) => [name, '1'])), AETHER_TRACE_LEVEL: 'DEBUG' }],
  ['file, DEBUG', { AETHER_TRACE_FILE: join(directory, 'trace.json'), AETHER_TRACE_FILE_MIB: '1024' }],
])

/** Two ranks of each way, that stay until the set ends. */
async function startGroups(kron) {
  const groups = new Map()
  for (const [way, environment] of ways) {
    const name = `overhead-${process.pid}-${groups.size}`
    const start = (rank) => new Measured('./rank.mjs', [name, rank, kron], environment, way.startsWith('lines'))
    groups.set(way, [start('0'), start('1')])
  }
  for (const ranks of groups.values()) await Promise.all(ranks.map((rank) => rank.next()))
  return groups
}

/** Rank 0's figures, and what both took of the processors. */
async function playRanks(ranks, order) {
  const [found, other] = await Promise.all(ranks.map((rank) => rank.ask(order)))
  return { ...found.figures, [order.processor]: found.cpuNs + other.cpuNs }
}

async function measureRanks({ sets, rounds, kron }, works) {
  const found = new Map(works.map((work) => [work, []]))
  const names = [...ways.keys()]
  for (let set = 0; set < sets; set += 1) {
    const groups = await startGroups(kron)
    try {
      for (const work of works) await Promise.all(names.map((way) => playRanks(groups.get(way), work)))
      for (const work of works) {
        const played = []
        for (let round = 0; round < rounds * work.repeats; round += 1)
          played.push(await playRound(names, round, (way) => playRanks(groups.get(way), work)))
        found.get(work).push(played)
      }
    } finally {
      await Promise.all([...groups.values()].flat().map((rank) => rank.close()))
    }
  }
  return found
}

async function measurePaths({ sets, rounds }) {
  const found = []
  for (let set = 0; set < sets; set += 1) {
    const paths = new Measured('./paths.mjs', [String(set)], {})
    try {
      await paths.next()
      await paths.ask({ rounds: 2, batchMs: BATCH_MS })
      const played = await paths.ask({ rounds: rounds * PATH_ROUNDS, batchMs: BATCH_MS })
      found.push(played.map((round) => new Map(round.map(([figure, ofWays]) => [figure, new Map(ofWays)]))))
    } finally {
      await paths.close()
    }
  }
  return found
}

function inWords(_figure, ns) {
  const [divisor, unit] = ns < 1000 ? [1, 'ns'] : ns < 1e6 ? [1000, 'µs'] : [1e6, 'ms']
  return `${(ns / divisor).toPrecision(3)} ${unit}`
}

const works = new Map([
  [
    'dsm',
    {
      title: 'bench dsm',
      kind: 'moves',
      processor: 'the three in a row, processor time of both ranks',
      turns: MOVES,
      repeats: 2,
    },
  ],
  [
    'demo',
    { title: 'demo', kind: 'PageRank', processor: 'PageRank, processor time of both ranks', turns: 2, repeats: 1 },
  ],
])
const parts = ['paths', ...works.keys(), 'silence']

async function main() {
  if (values.help) return console.log(help)
  const unknown = positionals.find((word) => !parts.includes(word))
  if (unknown !== undefined) throw new Error(`there is no '${unknown}' here: ${parts.join(', ')}`)
  const wants = (word) => positionals.length === 0 || positionals.includes(word)
  const plan = { sets: positive('sets'), rounds: positive('rounds'), kron: String(positive('kron')) }
  const burners = keepAwake()
  process.on('exit', () => {
    burners.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const how = [
    `${plan.sets} sets of ${plan.rounds} rounds`,
    burners.count > 0 ? 'processors kept awake' : 'processors not kept awake: chrt is not here',
    isRoundRobin ? 'before other programs (chrt -r)' : 'beside other programs',
  ]
  console.log(
    `${cpus().length} processors, ${cpus()[0]?.model ?? 'of unknown kind'}, Linux ${release()}, Node ${process.version}; ${how.join('; ')}`,
  )
  if (wants('paths')) console.log(`\n${ratioTable('paths', waysOfPaths, await measurePaths(plan), inWords)}`)
  const wanted = [...works].filter(([word]) => wants(word)).map(([, work]) => work)
  if (wanted.length > 0) {
    for (const [{ title }, sets] of await measureRanks(plan, wanted))
      console.log(`\n${ratioTable(title, [...ways.keys()], sets, inWords)}`)
  }
  if (!wants('silence')) return
  console.log('\n| what is tested | ns |\n|---|---|')
  for (const [name, ns] of measureSilence()) console.log(`| ${name} | ${ns.toFixed(2)} |`)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
try {
  await main()
} catch (error) {
  console.error(`measure-overhead: ${error.message}`)
  process.exitCode = 1
} finally {
  // What is measured ends with this process, and so do the burners.
  process.exit()
}

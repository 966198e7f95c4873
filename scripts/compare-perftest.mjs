/**
 * Measures `aether bench` beside perftest's programs on the same device in the same boot, and prints the ratios:
 *
 *     node scripts/rdma-guest.mjs --timeout 600 -- node scripts/compare-perftest.mjs
 *     node scripts/compare-perftest.mjs --device mlx5_0 --address 192.0.2.1        # where there is a card
 *
 * Both ends run on this machine. Each program runs in turn, `--rounds` times (default 2): the rounds of one program
 * differ by what the machine does to both. `--quick`: the first pair of latencies and of bandwidths, to see that it
 * works. Where a processor is emulated only the ratios mean anything, and even they tell more of the emulation's price
 * for compiled code.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const aether = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const TOOL_TIMEOUT_MS = 120_000
const ATTEMPTS = 5
const MEBIBYTE = 2 ** 20

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'rxe0' },
    'gid-index': { type: 'string', default: '1' },
    address: { type: 'string', default: process.env.AETHER_RDMA_ADDRESS ?? '127.0.0.1' },
    rounds: { type: 'string', default: '2' },
    'time-ms': { type: 'string', default: '1000' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

/**
 * perftest's program, the operation of `aether bench` that does the same, and the length. Inline is off on both sides,
 * the MTU 1024.
 */
const latencies = [
  ['ib_write_lat', 'write-seen', 8],
  ['ib_write_lat', 'write-seen', 4096],
  ['ib_read_lat', 'read', 8],
  ['ib_read_lat', 'read', 4096],
  ['ib_send_lat', 'send', 8],
  ['ib_send_lat', 'send', 4096],
  ['ib_atomic_lat', 'fetch-add', 8],
]
const bandwidths = [
  ['ib_write_bw', 'write', 4096],
  ['ib_write_bw', 'write', 65_536],
  ['ib_read_bw', 'read', 4096],
  ['ib_read_bw', 'read', 65_536],
  ['ib_send_bw', 'send', 4096],
  ['ib_send_bw', 'send', 65_536],
  ['ib_atomic_bw', 'fetch-add', 8],
]

/**
 * The figure in a column of perftest's line. It measures the frequency of its clock first; where a machine is busy that
 * fails at times, and all its figures are infinite, or the rate of a short run 0. Not a number where that stays so.
 */
async function perftest(tool, bytes, iterations, column) {
  for (let attempt = 1; ; attempt += 1) {
    const { figures, output } = await runPerftest(tool, bytes, iterations)
    const figure = figures?.[column]
    if (Number.isFinite(figure) && figure > 0) return figure
    if (attempt < ATTEMPTS) continue
    if (figure === undefined) throw new Error(`${tool} said no figures in ${ATTEMPTS} attempts:\n${output}`)
    return Number.NaN
  }
}

/** The line of figures that a perftest program prints. */
async function runPerftest(tool, bytes, iterations) {
  const hasSize = !tool.startsWith('ib_atomic_')
  const hasInline = tool === 'ib_write_lat' || tool === 'ib_send_lat'
  const words = [
    ...['-d', options.device, '-x', options['gid-index'], '-m', '1024', '-n', String(iterations), '-F'],
    ...(hasSize ? ['-s', String(bytes)] : []),
    ...(hasInline ? ['-I', '0'] : []),
  ]
  const server = spawn(tool, words, { stdio: 'ignore' })
  try {
    await sleep(1500)
    const client = spawnSync(tool, [...words, options.address], { encoding: 'utf8', timeout: TOOL_TIMEOUT_MS })
    const line = client.stdout.split('\n').find((each) => new RegExp(`^\\s*${bytes}\\s+\\d+\\s`).test(each))
    return { figures: line?.trim().split(/\s+/).map(Number), output: client.stdout + client.stderr }
  } finally {
    if (server.exitCode === null) {
      const ended = once(server, 'exit')
      server.kill('SIGKILL')
      await ended
    }
  }
}

function bench(kind, sizes) {
  const words = [
    'bench',
    kind,
    '--device',
    options.device,
    '--json',
    '--sizes',
    sizes.join(','),
    '--time-ms',
    options['time-ms'],
  ]
  const run = spawnSync(process.execPath, [aether, ...words], { encoding: 'utf8', timeout: 4 * TOOL_TIMEOUT_MS })
  if (run.status !== 0)
    throw new Error(`aether ${words.join(' ')} ended with ${run.status ?? run.signal}:\n${run.stderr}`)
  return JSON.parse(run.stdout)
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]
const rounds = Array.from({ length: Number(options.rounds) }, (_, index) => index)
const rowOf = (rows, op, bytes) => rows.find((row) => row.op === op && row.bytes === bytes)

/** One list of figures per compared pair: [perftest's, ours], a figure per round. */
async function collect(pairs, theirs, ours) {
  const figures = pairs.map(() => [[], []])
  for (const round of rounds) {
    for (const [index, [tool, , bytes]] of pairs.entries()) figures[index][0].push(await theirs(tool, bytes, round))
    const rows = ours()
    for (const [index, [, op, bytes]] of pairs.entries()) figures[index][1].push(rowOf(rows, op, bytes))
  }
  return figures
}

const chosen = (pairs) => (options.quick ? pairs.slice(0, 1) : pairs)
const sizesOf = (pairs) => [...new Set(pairs.map(([, , bytes]) => bytes))]
const latencyPairs = chosen(latencies)
const bandwidthPairs = chosen(bandwidths)

const microseconds = await collect(
  latencyPairs,
  // #bytes #iterations t_min t_max t_typical …
  (tool, bytes) => perftest(tool, bytes, 1000, 4),
  () => bench('latency', sizesOf(latencyPairs)).map((row) => ({ ...row, figure: row.p50Ns / 1000 })),
)
const megabytes = await collect(
  bandwidthPairs,
  // #bytes #iterations peak average rate, in MiB/s
  (tool, bytes) => perftest(tool, bytes, bytes > 4096 ? 300 : 2000, 3),
  () => bench('bandwidth', sizesOf(bandwidthPairs)).map((row) => ({ ...row, figure: (row.gbPerSec * 1e9) / MEBIBYTE })),
)

function resultsOf(pairs, figures, unit) {
  return pairs.map(([tool, op, bytes], index) => {
    const perftestFigures = figures[index][0]
    const aetherFigures = figures[index][1].map((row) => row.figure)
    // Null, in words 'none', where one side has none.
    const known = perftestFigures.filter(Number.isFinite)
    const ratio = known.length === 0 ? null : median(aetherFigures) / median(known)
    return { tool, op, bytes, unit, perftest: perftestFigures, aether: aetherFigures, ratio }
  })
}

const results = [...resultsOf(latencyPairs, microseconds, 'µs'), ...resultsOf(bandwidthPairs, megabytes, 'MiB/s')]
if (options.json) console.log(JSON.stringify(results, undefined, 2))
else {
  const list = (values) =>
    values
      .map((value) => (Number.isNaN(value) ? 'none' : value < 10 ? value.toPrecision(3) : value.toFixed(1)))
      .join(' ')
  console.log(
    `${'perftest'.padEnd(14)} ${'aether'.padEnd(11)} ${'bytes'.padStart(6)}  ${'unit'.padEnd(5)}  perftest: rounds | aether: rounds | ratio of medians`,
  )
  for (const { tool, op, bytes, unit, perftest: theirs, aether: ours, ratio } of results) {
    console.log(
      `${tool.padEnd(14)} ${op.padEnd(11)} ${String(bytes).padStart(6)}  ${unit.padEnd(5)}  ${list(theirs)} | ${list(ours)} | ${ratio?.toFixed(2) ?? 'none: perftest gave no figure'}`,
    )
  }
}

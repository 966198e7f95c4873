/**
 * Checks that a file holds what `aether bench … --json` promises: `node scripts/check-bench.mjs FILE [PROVIDER,…]`; the
 * providers named have to be among them, without their versions. Exits 1 and says what is wrong otherwise.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/**
 * What rows of each benchmark have; a name with `?` may be null. The first that a file's first row has the key of is
 * meant.
 */
const shapes = [
  {
    key: 'busy',
    texts: ['op', 'provider', 'baseline?'],
    numbers: [
      ...['bytes', 'busy', 'rounds', 'p50Ns', 'meanNs', 'p99Ns', 'maxNs', 'opsPerSec'],
      ...['cpuNsPerOp?', 'delayNsPerOp?', 'sleepsPerOp?', 'preemptionsPerOp?'],
      ...['p50Ratio?', 'meanRatio?', 'p99Ratio?', 'rateRatio?'],
    ],
  },
  {
    key: 'place',
    texts: ['op', 'store', 'place', 'baseline?'],
    numbers: ['bytes', 'samples', 'meanNs', 'p50Ns', 'p99Ns', 'maxNs', 'writtenBytes?', 'ratio?'],
  },
  {
    key: 'neededBytes',
    texts: ['op', 'provider', 'baseline?'],
    numbers: [
      ...['elements', 'ranks', 'threads', 'samples', 'meanNs', 'p50Ns', 'p99Ns', 'maxNs'],
      ...['movedBytes?', 'neededBytes?', 'ratio?'],
    ],
  },
  {
    key: 'keyBytes',
    texts: ['op', 'provider', 'baseline?'],
    numbers: [
      ...['bytes', 'clients', 'samples', 'meanNs?', 'p50Ns?', 'p99Ns?', 'maxNs?'],
      ...['opsPerSec?', 'keyBytes?', 'ratio?'],
    ],
  },
  {
    key: 'provider',
    texts: ['op', 'provider', 'baseline?'],
    numbers: ['bytes', 'p50Ns?', 'p99Ns?', 'maxNs?', 'opsPerSec', 'gbPerSec', 'cpuNsPerOp?', 'ratio?'],
  },
  {
    key: 'hitRate',
    texts: ['op', 'coherence', 'baseline?'],
    numbers: ['ranks', 'pageBytes', 'samples', 'p50Ns', 'p99Ns', 'maxNs', 'messages?', 'bytes?', 'hitRate?', 'ratio?'],
  },
  {
    key: 'store',
    texts: ['op', 'store', 'keys', 'baseline?'],
    numbers: ['processes', 'bytes', 'samples', 'p50Ns', 'p99Ns', 'maxNs', 'opsPerSec', 'ratio?', 'peakShare'],
  },
  {
    key: 'rounds',
    texts: ['op', 'algorithm', 'chosen'],
    numbers: [
      ...['processes', 'bytes', 'samples', 'p50Ns', 'p99Ns', 'maxNs', 'cpuNsPerOp'],
      ...['rounds', 'messages', 'sentBytes', 'busiestBytes'],
    ],
  },
  { key: 'hops', texts: ['protocol', 'miss'], numbers: ['ranks', 'messages', 'bytes', 'hops'] },
]

/** Of all that are timed, but for rows of programs of others that tell no times of single operations. */
const quantiles = 'quantilesNs'

function checkRow({ texts, numbers }, row, index) {
  const where = `row ${index}: ${JSON.stringify(row)}`
  const isTimed = numbers.some((name) => name.startsWith('p50Ns'))
  const names = [...texts, ...numbers, ...(isTimed ? [quantiles] : [])].map((name) => name.replace('?', ''))
  assert.deepEqual(Object.keys(row).sort(), names.sort(), where)
  const isNull = (name) => name.endsWith('?') && row[name.slice(0, -1)] === null
  const value = (name) => row[name.replace('?', '')]
  for (const name of texts) assert.ok(isNull(name) || typeof value(name) === 'string', `${name} in ${where}`)
  for (const name of numbers)
    assert.ok(isNull(name) || (Number.isFinite(value(name)) && value(name) >= 0), `${name} in ${where}`)
  const times = [row.p50Ns, row.p99Ns, row.maxNs].filter((ns) => Number.isFinite(ns))
  for (const [at, ns] of times.entries()) assert.ok(at === 0 || times[at - 1] <= ns, `p50 <= p99 <= max in ${where}`)
  if (isTimed) checkQuantiles(row, where)
  if ('ratio' in row) assert.equal(row.ratio === null, row.baseline === null, `a ratio has a baseline, in ${where}`)
}

function checkQuantiles({ quantilesNs, p50Ns, p99Ns, maxNs }, where) {
  if (quantilesNs === null) return assert.equal(maxNs, null, `a distribution where there is a longest, in ${where}`)
  assert.ok(quantilesNs.length === 10 && quantilesNs.every((ns, at) => at === 0 || quantilesNs[at - 1] <= ns), where)
  assert.ok(quantilesNs.includes(p50Ns) && quantilesNs.includes(p99Ns) && quantilesNs.at(-1) <= maxNs, where)
}

const rows = JSON.parse(readFileSync(process.argv[2], 'utf8'))
assert.ok(Array.isArray(rows) && rows.length > 0, 'an array of at least one row')
function shapeOf(row) {
  const shape = shapes.find(({ key }) => key in row)
  assert.ok(shape !== undefined, `rows of no benchmark that is known: ${JSON.stringify(row)}`)
  return shape
}

/** Of `bench all` each suite has its shape; of the others all rows have the first one's. */
const shapeOfSuite = new Map()
for (const [index, { suite, ...row }] of rows.entries()) {
  if (!shapeOfSuite.has(suite)) shapeOfSuite.set(suite, shapeOf(row))
  checkRow(shapeOfSuite.get(suite), row, index)
}
for (const provider of process.argv[3]?.split(',') ?? [])
  assert.ok(
    rows.some((row) => row.provider?.startsWith(provider)),
    `no row of ${provider}`,
  )
const kinds = rows.map(
  (row) => `${row.provider ?? row.coherence ?? row.protocol ?? row.store ?? row.algorithm} ${row.op ?? row.miss}`,
)
console.log(`${rows.length} rows as promised: ${[...new Set(kinds)].join(', ')}`)

/**
 * What the rows of benchmarks are as data: the plots that are drawn of them, the page with these, and ratios to an
 * earlier run.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { CollectivesRow } from '../../../tools/bench/collectives-row.ts'
import { type DsmRow, rowFrom } from '../../../tools/bench/dsm-row.ts'
import { distributionOf, quantileShares } from '../../../tools/bench/quantiles.ts'
import { dotChart } from '../../../tools/bench/report/dot-chart.ts'
import { reportPage } from '../../../tools/bench/report/report-page.ts'
import { scaleOf } from '../../../tools/bench/report/scale.ts'
import { classOf, markOf } from '../../../tools/bench/report/series-style.ts'
import { bytesAxis, countAxis, percentileAxis, ratioAxis, timeAxis } from '../../../tools/bench/results/axes.ts'
import { benchResult } from '../../../tools/bench/results/bench-result.ts'
import { collectivesKind } from '../../../tools/bench/results/collectives-kind.ts'
import { commonKinds } from '../../../tools/bench/results/common-kinds.ts'
import { dsmKind } from '../../../tools/bench/results/dsm-kind.ts'
import { EarlierRun } from '../../../tools/bench/results/earlier-run.ts'
import { type Plot, plotSections } from '../../../tools/bench/results/plot.ts'
import type { RowKind } from '../../../tools/bench/results/row-kind.ts'
import { scalingKind } from '../../../tools/bench/results/scaling-kind.ts'
import { structuresKind } from '../../../tools/bench/results/structures-kind.ts'
import { type BenchRow, rowOfOthers } from '../../../tools/bench/row.ts'
import type { ScalingRow } from '../../../tools/bench/scaling/scaling.ts'
import type { StructuresRow } from '../../../tools/bench/structures/structures-row.ts'

const samples = (ns: number): Float64Array => Float64Array.of(ns, ns, 2 * ns, 4 * ns)
const tail = { cpuNsPerOp: null, baseline: null, ratio: null } as const
const common = (op: string, provider: string, bytes: number, ns: number): BenchRow => ({
  ...{ op, provider, bytes, ...distributionOf(samples(ns)), opsPerSec: 1e9 / ns, gbPerSec: bytes / ns, ...tail },
})
const access = (op: string, coherence: string, ranks: number, pageBytes: number): DsmRow =>
  rowFrom({ op, coherence, ranks, pageBytes }, samples(1000), { messages: 3, bytes: pageBytes, hitRate: 0 })
const collective = (algorithm: string, processes: number, bytes: number): CollectivesRow => ({
  ...{ op: 'allReduce', algorithm, chosen: algorithm === 'ring' ? 'both' : '', processes, bytes, samples: 4 },
  ...distributionOf(samples(500)),
  ...{ cpuNsPerOp: 1, rounds: 1, messages: 2, sentBytes: bytes, busiestBytes: bytes },
})
const structure = (op: string, store: 'aether' | 'Redis', processes: number, bytes: number): StructuresRow => ({
  ...{ op, store, processes, bytes, keys: 'uniform', samples: 4, ...distributionOf(samples(700)) },
  ...{ opsPerSec: 1e6, baseline: null, ratio: null, peakShare: 1 },
})

/** Of each section: groups, and of each plot how many points each series has. */
function shape<Row extends object>(kind: RowKind<Row>, rows: readonly Row[]): Record<string, unknown> {
  const sections = plotSections(kind.plots, rows)
  return Object.fromEntries(
    sections.map(({ title, groups }) => [
      title,
      Object.fromEntries(
        groups.map((group) => [group.title, Object.fromEntries(group.plots.map((plot) => [plot.title, counts(plot)]))]),
      ),
    ]),
  )
}

function counts({ series }: Plot): Record<string, number> {
  return Object.fromEntries(series.map(({ name, points }) => [name, points.length]))
}

const shares = quantileShares.length

describe('plots of a benchmark', () => {
  it('of latency are by length, side by side, and distributions of those that tell one', () => {
    const rows = [8, 64].flatMap((bytes) => [
      common('write', 'shm', bytes, 100),
      rowOfOthers('send', 'libfabric 1.2', bytes, { opsPerSec: 1e6, p50Ns: null }),
    ])
    const found = shape(commonKinds.latency, rows)
    assert.deepEqual(found['Time by length'], {
      '': { 'one operation at a time': { 'write, shm': 2, 'send, libfabric 1.2': 2 } },
    })
    assert.deepEqual(found['Times side by side'], {
      '8 B': { 'time of one': { shm: 1, 'libfabric 1.2': 1 } },
      '64 B': { 'time of one': { shm: 1, 'libfabric 1.2': 1 } },
    })
    assert.deepEqual(found['Distributions'], {
      '8 B': { 'one operation at a time': { 'write, shm': shares } },
      '64 B': { 'one operation at a time': { 'write, shm': shares } },
    })
  })

  it('of rpc and ops have the number of calls, clients and processes on the axis', () => {
    const rows = ['call-1', 'call-16', 'clients-1', 'clients-4'].flatMap((op) =>
      ['shm', 'gRPC'].map((provider) => common(op, provider, 8, 1000)),
    )
    const found = shape(commonKinds.rpc, rows)
    const both = { shm: 2, gRPC: 2 }
    const expected = {
      '8 B': { 'calls in progress of one client': both, 'client processes, 16 calls in progress each': both },
    }
    assert.deepEqual(found['Rate by number'], expected)
    assert.deepEqual(found['Time by number'], expected)
    assert.equal(found['Time by length'], undefined, 'one length is no sweep')
    const [plot] = plotSections(commonKinds.rpc.plots, rows)[0]!.groups[0]!.plots
    assert.deepEqual(plot?.kind === 'lines' && plot.series[0]!.points.map(({ x }) => x), [1, 16])
  })

  it('of dsm are of accesses, their messages, sharing, processes, page sizes, and distributions', () => {
    const rows = [2, 4].flatMap((ranks) =>
      [4096, 65_536].flatMap((pageBytes) =>
        ['mesi', 'token'].flatMap((coherence) =>
          ['load', '0 % shared, 50 % stores', '100 % shared, 50 % stores'].map((op) =>
            access(op, coherence, ranks, pageBytes),
          ),
        ),
      ),
    )
    const found = shape(dsmKind, rows) as Record<string, Record<string, unknown>>
    const [one, two] = [
      { mesi: 1, token: 1 },
      { mesi: 2, token: 2 },
    ]
    assert.deepEqual(Object.keys(found['Accesses']!), [
      '2 processes, pages of 4.00 KiB',
      '2 processes, pages of 64.0 KiB',
      '4 processes, pages of 4.00 KiB',
      '4 processes, pages of 64.0 KiB',
    ])
    assert.deepEqual(found['Accesses']!['4 processes, pages of 64.0 KiB'], { 'time of one access': one })
    assert.deepEqual(found['Messages of one access']!['2 processes, pages of 4.00 KiB'], {
      'messages of one access': one,
    })
    assert.deepEqual(found['By sharing']!['2 processes, pages of 4.00 KiB'], {
      '50 % of the accesses are stores': two,
    })
    assert.deepEqual(found['By number of processes']!['pages of 4.00 KiB'], {
      load: two,
      '0 % shared, 50 % stores': two,
      '100 % shared, 50 % stores': two,
    })
    assert.deepEqual(found['By length of a page']!['4 processes'], { load: two })
    assert.deepEqual(found['Distributions']!['2 processes, pages of 4.00 KiB'], {
      load: { mesi: shares, token: shares },
    })
  })

  it('of collectives are by length and by number of processes, a line for each algorithm', () => {
    const rows = [2, 4].flatMap((processes) =>
      [64, 4096].flatMap((bytes) => ['ring', 'linear'].map((algorithm) => collective(algorithm, processes, bytes))),
    )
    const found = shape(collectivesKind, rows)
    const lines = { allReduce: { ring: 2, linear: 2 } }
    assert.deepEqual(found['All collectives'], {
      '': { '2 processes': { '64 B': 1, '4.00 KiB': 1 }, '4 processes': { '64 B': 1, '4.00 KiB': 1 } },
    })
    assert.deepEqual(found['By length'], { '2 processes': lines, '4 processes': lines })
    assert.deepEqual(found['By number of processes'], { '64 B': lines, '4.00 KiB': lines })
  })

  it('of structures are rate and time by number of processes, by length of values, and side by side', () => {
    const rows = [1, 2].flatMap((processes) =>
      [16, 1024].flatMap((bytes) =>
        (['aether', 'Redis'] as const).map((store) => structure('get', store, processes, bytes)),
      ),
    )
    const found = shape(structuresKind, rows)
    const lines = { 'get, uniform keys': { aether: 2, Redis: 2 } }
    const bySize = { 'values of 16 B': lines, 'values of 1.00 KiB': lines }
    assert.deepEqual(found['Rate by number of processes'], bySize)
    assert.deepEqual(found['Time by number of processes'], bySize)
    assert.deepEqual(found['Time by length of the value'], { '1 process': lines, '2 processes': lines })
  })

  it('of scaling are messages, delays and bytes by nodes, a line for each protocol', () => {
    const row = (protocol: string, ranks: number): ScalingRow => ({
      ...{ protocol, ranks, miss: 'read', messages: 3, bytes: 4096, hops: 2 },
    })
    const found = shape(scalingKind, [row('mesi', 2), row('mesi', 16), row('token', 16)])
    const lines = { '': { read: { mesi: 2, token: 1 } } }
    assert.deepEqual(found, { 'Messages by nodes': lines, 'Delays by nodes': lines, 'Bytes by nodes': lines })
  })
})

describe('the page of a benchmark', () => {
  const rows = [8, 64].flatMap((bytes) => [common('write', 'shm', bytes, 100), common('read', '<b>&', bytes, 100)])
  const results = [benchResult('latency', commonKinds.latency, rows, undefined)]
  const page = reportPage({ title: 'a title', facts: ['a fact'], missing: ['without UCX: it is not here'], results })

  it('has every plot as a picture with title, description and legend, and its numbers as a table', () => {
    const plots = results[0]!.sections.flatMap(({ groups }) => groups.flatMap((group) => group.plots))
    const count = (pattern: RegExp): number => [...page.matchAll(pattern)].length
    assert.equal(plots.length, 5)
    for (const pattern of [
      /<figure><figcaption>/g,
      /<svg [^>]*role="img"><title>[^<]+<\/title><desc>[^<]+<\/desc>/g,
      /<ul class="legend">/g,
      /<summary>Numbers<\/summary><div class="wide"><table>/g,
    ])
      assert.equal(count(pattern), plots.length, String(pattern))
    const points = plots.flatMap(({ series }) => series.flatMap((line) => [...line.points])).length
    assert.equal(count(/<(circle|path) class="mark"[^>]*><title>/g), points)
  })

  it('says what was not here, needs nothing else, and takes names for text', () => {
    assert.match(page, /without UCX: it is not here/)
    assert.match(page, /prefers-color-scheme:dark/)
    assert.doesNotMatch(page, /NaN|undefined|Infinity|<script|https?:|<b>|@import|url\(/)
  })
})

describe('marks beside names', () => {
  const short = 'load'
  const long = 'ping-pong of a word in a page, there and back; 2 processes, pages of 4.00 KiB'
  const word = 'x'.repeat(90)
  const drawn = (categories: readonly string[]): string => {
    const points = categories.flatMap((category) => [1000, 4000].map((value) => ({ category, value, high: 2 * value })))
    const plot = { kind: 'dots', title: 'a plot', x: timeAxis, categories, series: [{ name: 'mesi', points }] } as const
    return dotChart(plot, () => 0, '')
  }

  it('have an axis from left to right that is wide enough, however long the names are', () => {
    for (const categories of [[short], [long], [short, long, word]]) {
      const svg = drawn(categories)
      const [, width, height] = /viewBox="0 0 (\S+) (\S+)"/.exec(svg)!.map(Number)
      const grid = [...svg.matchAll(/class="grid" d="M(\S+) /g)].map(([, at]) => Number(at))
      assert.ok(grid.at(-1)! - grid[0]! >= 250, `${categories}: ${grid.join(', ')}`)
      assert.ok(grid.at(-1)! < width!, `${grid.at(-1)} of ${width}`)
      for (const [, x, y] of svg.matchAll(/<text x="(\S+)" y="(\S+)" text-anchor="end">/g))
        assert.ok(Number(x) > 0 && Number(x) < grid[0]! && Number(y) < height!, `${x}, ${y}`)
    }
  })

  it('have the whole name, in lines that lie apart', () => {
    const texts = [...drawn([short, long, word]).matchAll(/y="(\S+)" text-anchor="end">([^<]*)</g)]
    assert.equal(
      texts
        .map(([, , text]) => text)
        .join('')
        .replaceAll(' ', ''),
      `${short}${long}${word}`.replaceAll(' ', ''),
    )
    for (const [index, [, y]] of texts.slice(1).entries()) assert.ok(Number(y) - Number(texts[index]![1]) >= 12)
  })
})

it('no two of as many as 32 series look alike', () => {
  const looks = Array.from({ length: 32 }, (_, style) => `${classOf(style).slice(0, 2)} ${markOf(style, 0, 0)}`)
  assert.equal(new Set(looks).size, 32)
})

describe('a scale', () => {
  const texts = (...of: Parameters<typeof scaleOf>): string[] => scaleOf(...of).ticks.map(({ text }) => text)

  it('has round ticks around all values, few or many decades', () => {
    assert.deepEqual(texts(timeAxis, [164, 4e6], 0, 400), ['100 ns', '1 µs', '10 µs', '100 µs', '1 ms', '10 ms'])
    assert.deepEqual(texts(timeAxis, [150, 900], 0, 400), ['100 ns', '200 ns', '500 ns', '1 µs'])
    assert.deepEqual(texts(countAxis('x'), [2, 3], 0, 400), ['2', '3'])
    assert.deepEqual(texts(countAxis('x', 'linear'), [3, 17], 0, 400), ['0', '5', '10', '15', '20'])
    assert.deepEqual(texts(ratioAxis, [1], 0, 400), ['0.5x', '1x', '2x'])
    assert.deepEqual(texts(percentileAxis, [0, 1], 0, 400), ['0 %', '50 %', '90 %', '99 %', '99.9 %', 'all'])
  })

  it('lies within its ends, in the order of the values, also where there is one only', () => {
    const { at, ticks } = scaleOf(bytesAxis, [8, 64, 4096], 10, 410, { isSweep: true })
    assert.deepEqual([at(8), at(4096)].map(Math.round), [10, 410])
    assert.deepEqual(
      ticks.map(({ text }) => text),
      ['8 B', '64 B', '4 KiB'],
    )
    assert.equal(scaleOf(countAxis('x'), [7], 0, 100, { isSweep: true }).at(7), 50)
  })

  it('names no ticks that would lie on one another', () => {
    const sizes = Array.from({ length: 40 }, (_, index) => 1000 + index)
    const { ticks, at } = scaleOf(countAxis('x'), sizes, 0, 300, { isSweep: true })
    const named = ticks.filter(({ isNamed }) => isNamed)
    assert.ok(named.length >= 2 && named.length < 10)
    for (const [index, { value }] of named.slice(1).entries()) assert.ok(at(value) - at(named[index]!.value) > 35)
  })
})

describe('a run beside an earlier one', () => {
  const withFile = (content: string, work: (file: string) => void): void => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    try {
      const file = join(directory, 'rows.json')
      writeFileSync(file, content)
      work(file)
    } finally {
      rmSync(directory, { recursive: true })
    }
  }

  it('has the ratio of each row to its like: in the rows, the table, a note and a plot', () => {
    const row = (op: string, coherence: string, ns: number): DsmRow =>
      rowFrom({ op, coherence, ranks: 2, pageBytes: 4096 }, Float64Array.of(ns))
    const earlier = [
      { suite: 'dsm', ...row('load', 'mesi', 100) },
      { suite: 'latency', op: 'load' },
    ]
    withFile(JSON.stringify(earlier), (file) => {
      const run = EarlierRun.read(file)
      run.expect(['dsm'])
      const rows = [row('load', 'mesi', 150), row('load', 'token', 150)]
      const result = benchResult('dsm', dsmKind, rows, run.before('dsm', dsmKind))
      assert.deepEqual(
        result.rows.map((each) => (each as { beforeRatio: unknown }).beforeRatio),
        [1.5, null],
      )
      assert.deepEqual(
        result.table.cells.map((cells) => cells.at(-1)),
        ['1.50x', 'no such row'],
      )
      assert.equal(result.table.columns.at(-1)?.title, 'before')
      assert.match(result.lines.at(-1)!, /The earlier run has 1 of these 2 rows/)
      const [section] = result.sections
      assert.equal(section?.title, 'Compared with the earlier run')
      assert.deepEqual(section?.groups[0]?.plots.map(counts), [{ mesi: 1 }])
    })
  })

  it('takes a peer of another version for the same', () => {
    withFile(JSON.stringify([{ suite: 'rpc', ...common('call-1', 'Redis 7.0.15', 8, 200) }]), (file) => {
      const before = EarlierRun.read(file).before('rpc', commonKinds.rpc)
      assert.equal(before(common('call-1', 'Redis 7.2.1', 8, 100)), 0.5)
      assert.equal(before(common('call-1', 'Redis 7.2.1', 16, 100)), null)
      assert.equal(before(common('call-16', 'Redis 7.2.1', 8, 100)), null)
    })
  })

  it('refuses what is no run, and a run of another benchmark', () => {
    for (const content of ['', '{}', '[]', '[1]', '[{"op":"write"}]', 'text'])
      withFile(content, (file) =>
        assert.throws(() => EarlierRun.read(file), /does not hold what 'npx aether-dsm bench … --json'/),
      )
    assert.throws(() => EarlierRun.read(tmpdir()), /cannot be read: it is a directory/)
    withFile('[{"suite":"rpc","op":"call-1"}]', (file) => {
      const run = EarlierRun.read(file)
      assert.throws(() => run.expect(['dsm']), /holds rows of rpc, none of dsm: .*'npx aether-dsm bench dsm --json'/)
      assert.throws(() => run.before('rpc', commonKinds.rpc), /rows of rpc that this version does not know/)
    })
  })
})

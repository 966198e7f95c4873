/**
 * `aether bench dsm`: its times are the machine's, but what each access costs in messages and moved bytes is the
 * protocol's.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { benchDsm } from '../../../tools/bench/dsm.ts'
import { type DsmRow, rowFrom, withRatios } from '../../../tools/bench/dsm-row.ts'
import { measureStages, stageNames, stageRows } from '../../../tools/bench/dsm-stages.ts'
import { PageFloor } from '../../../tools/bench/floor/page-floor.ts'
import { whyNoMesi } from '../../../tools/demo/mesi-support.ts'

const refused = whyNoMesi()

/** Messages and pages of 4 KiB that one access costs, by mesi's table: see src/dsm/coherence/mesi.ts. */
const costs: Readonly<Record<string, readonly [number, number]>> = {
  'load, never touched, home here': [0, 0],
  'load, never touched, home remote': [3, 1],
  'load, written by its home': [3, 1],
  // Request, forward, data, unblock, downgrade; the owner writes the page to the reader and back to the home.
  'load, written by a third rank': [5, 2],
  'store, written by its home': [3, 1],
  'store, written by a third rank': [4, 1],
  'store, here and 1 other sharer': [4, 0],
  'store, here and 2 other sharers': [6, 0],
  'readSync, written by its home': [3, 1],
  'writeSync, written by its home': [3, 1],
}

describe('aether bench dsm', { skip: refused ?? false }, () => {
  it('counts what each access costs', async () => {
    const rows = await benchDsm({ coherence: ['mesi'], ranks: [3], pageBytes: [4096], iterations: 10, cellMs: 2 })
    for (const [op, [messages, pages]] of Object.entries(costs)) {
      const row = rows.find((each) => each.op === op)
      assert.deepEqual([op, row?.messages, row?.bytes], [op, messages, 4096 * pages])
    }
    for (const row of rows) assertOrdered(row)
    assertGrid(rows)
    const hit = rows.find(({ op }) => op.startsWith('sum of a page'))
    assert.ok(hit?.ratio != null && hit.baseline === 'sum of a plain Float64Array (512), mesi')
    const local = rows.find(({ op }) => op === 'load, never touched, home here')
    assert.ok(local?.ratio != null && local.baseline === 'load, answered by a C thread, none')
    const fetched = rows.find(({ op }) => op === 'load, written by its home')
    assert.ok(fetched?.ratio != null && fetched.baseline === 'load, in C++, agents asleep, none')
  })
})

/** Nine cells of each kind; where nothing is shared every page is here, and hardware needs no agent at all. */
function assertGrid(rows: readonly DsmRow[]): void {
  const cells = rows.filter(({ op }) => op.endsWith('% stores'))
  assert.equal(cells.length, 18)
  for (const { op, coherence, hitRate, messages, baseline, ratio } of cells) {
    assert.ok(hitRate !== null && hitRate >= 0 && hitRate <= 1, op)
    if (coherence === 'hardware') assert.deepEqual([hitRate, messages, baseline], [1, 0, null])
    else assert.ok(baseline === `${op}, hardware` && ratio !== null && ratio > 0, op)
  }
}

describe('the stages of a page miss', () => {
  it('are read from what two processes traced, and add up to the whole', { skip: refused ?? false }, async () => {
    const plan = { coherence: ['directory', 'token'], pageBytes: [4096], iterations: 10, cellMs: 0 }
    const rows = await measureStages(plan)
    for (const coherence of plan.coherence) {
      const [whole, ...stages] = rows.filter((row) => row.coherence === coherence)
      assert.equal(whole?.samples, 10)
      assert.deepEqual(
        stages.map(({ op }) => op),
        stageNames,
      )
      for (const stage of stages) {
        assert.equal(stage.samples, 10)
        assert.ok(stage.quantilesNs.every((ns) => ns >= 0))
      }
    }
  })

  it('are the times between its lines; an access that lacks one is left out', () => {
    const line = (ts: number, ph: string, pid: number, name = '', more = {}) => ({
      ts,
      ph,
      pid,
      name,
      args: { region: 'r', page: 1, ...more },
    })
    const lines = [
      line(1010, 'B', 7, 'read page 1'),
      line(1012, 'i', 7, 'sent', { to: 1 }),
      line(1020, 'X', 8, 'GetShared page 1'),
      line(1021, 'i', 8, 'downgraded'),
      line(1025, 'i', 8, 'sent', { to: 0 }),
      line(1033, 'X', 7, 'DataShared page 1'),
      line(1034, 'E', 7),
      { ...line(1011, 'B', 9), args: { region: 'other', page: 1 } },
      line(2010, 'B', 7, 'read page 1'),
    ]
    const times = [
      [1_000_000, 1_040_000],
      [2_000_000, 2_040_000],
    ] as const
    const [whole, ...stages] = stageRows({ coherence: 'mesi', region: 'r', page: 1, pageBytes: 4096, times }, lines)
    assert.deepEqual([whole?.p50Ns, whole?.samples], [40_000, 1])
    assert.deepEqual(
      stages.map(({ p50Ns }) => p50Ns),
      [10_000, 2000, 8000, 5000, 8000, 1000, 6000],
    )
    assert.deepEqual(stageRows({ coherence: 'mesi', region: 'r', page: 1, pageBytes: 4096, times: [] }, lines), [])
  })
})

describe('the exchange of a page miss in C++', { skip: refused ?? false }, () => {
  it('brings what was written, with agents that sleep and that do not, page by page', async () => {
    using floor = new PageFloor()
    for (const exchange of ['asleep', 'awake', 'turns'] as const)
      for (const pageBytes of [4096, 65536]) {
        const samples = await floor.measure(exchange, pageBytes, 20)
        assert.equal(samples.length, 18)
        assert.ok(samples.every((ns) => ns > 0))
      }
  })

  it('says so where it cannot be compiled', () => {
    const before = process.env['CXX']
    process.env['CXX'] = 'no-such-compiler'
    try {
      assert.throws(() => new PageFloor(), { code: 'ERR_AETHER_BENCH', message: /no-such-compiler does not compile/ })
    } finally {
      if (before === undefined) delete process.env['CXX']
      else process.env['CXX'] = before
    }
  })
})

describe('ratios of a benchmark', () => {
  const row = (op: string, ns: number, ranks: number, baseline?: string): DsmRow =>
    rowFrom(
      { op, coherence: 'none', ranks, pageBytes: 4096, ...(baseline !== undefined && { baseline }) },
      Float64Array.of(ns),
    )

  it('are of medians, with as many processes, and none where there is nothing to hold against', () => {
    const rows = [row('base', 10, 2), row('one', 15, 2, 'base, none'), row('one', 15, 3, 'base, none')]
    assert.deepEqual(
      withRatios(rows).map(({ baseline, ratio }) => [baseline, ratio]),
      [
        [null, null],
        ['base, none', 1.5],
        [null, null],
      ],
    )
  })
})

function assertOrdered({ op, samples, p50Ns, p99Ns, maxNs }: DsmRow): void {
  assert.ok(samples > 0 && p50Ns > 0 && p50Ns <= p99Ns && p99Ns <= maxNs, op)
}

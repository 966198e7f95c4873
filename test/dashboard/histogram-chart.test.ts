import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partOf } from '../../src/dashboard/histogram-frame.ts'
import type { HistogramFrame } from '../../src/dashboard/index.ts'

/** As web/histogram-chart.ts has it, which is built for a browser. */
const { together } = (await import(new URL('../../web/histogram-chart.js', import.meta.url).href)) as {
  readonly together: (histograms: readonly HistogramFrame[]) => HistogramFrame | undefined
}

/** What a member has timed. */
function histogram(slot: number, times: readonly number[]): HistogramFrame {
  const parts = new Map<number, number>()
  for (const ns of times) parts.set(partOf(ns), (parts.get(partOf(ns)) ?? 0) + 1)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!
  return {
    name: 'dsm.fault',
    slot,
    count: times.length,
    meanNs: times.reduce((sum, ns) => sum + ns, 0) / times.length,
    p50Ns: at(0.5),
    p90Ns: at(0.9),
    p99Ns: at(0.99),
    maxNs: sorted.at(-1)!,
    parts: [...parts].flat(),
  }
}

test('percentiles of several members together are near those of all that they have timed', () => {
  for (const [first, last] of [
    [1024, 1279],
    [1000, 9000],
    [20_000, 1_000_000],
  ] as const) {
    const times = Array.from({ length: 1000 }, (_, index) => Math.round(first + ((last - first) * index) / 999))
    const exact = histogram(0, times)
    const all = together([0, 1, 2].map((slot) => histogram(slot, times)))!
    for (const name of ['p50Ns', 'p90Ns', 'p99Ns'] as const)
      assert.ok(Math.abs(all[name] - exact[name]) < 0.03 * exact[name], `${name}: ${all[name]}, not ${exact[name]}`)
    assert.deepEqual([all.count, all.maxNs], [3000, last])
  }
  const one = together([histogram(0, [5000]), histogram(1, [5000])])!
  assert.ok(one.p99Ns <= 5000, `${one.p99Ns}: no more than the most`)
})

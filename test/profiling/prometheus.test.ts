import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  defineCounters,
  defineHistogram,
  type MetricSource,
  metricsHandler,
  PROFILING_AREA_BYTES,
  Profile,
  ProfilingArea,
  prometheusText,
} from '../../src/profiling/index.ts'

const calls = defineCounters('test.calls', ['started', 'bytesSent', 'waitNs', 'active'], {
  gauges: ['active'],
  labelled: 'method',
  help: { started: 'Calls that began.\nA second line, and a \\.' },
})
const failures = defineCounters('test.failures', ['DEADLINE', 'NOT FOUND'], {
  labelled: 'method',
  spread: 'code',
  help: { '': 'Calls that failed.' },
})
const times = defineHistogram('test.latency', { labelled: 'method', help: 'How long calls took.' })

function source(labels: Record<string, string> = {}): MetricSource {
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const area = new ProfilingArea(memory)
  const block = area.counters(calls, 'shop/"buy"\\now')
  block.add('started', 3)
  block.add('bytesSent', 300)
  block.add('waitNs', 1_500_000_000)
  block.set('active', 2)
  const ended = area.counters(calls, 'ended')
  ended.add('started', 10)
  ended.close()
  area.counters(failures, 'buy').add('NOT FOUND', 4)
  const histogram = area.histogram(times, 'buy')
  for (const ns of [100, 300, 3e9, 1e12]) histogram.record(ns)
  return { profile: Profile.read(memory), labels }
}

function linesOf(text: string, metric: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(metric))
}

test('counters, gauges and times are written with their types, units and labels', () => {
  const text = prometheusText([source()])
  assert.deepEqual(linesOf(text, 'aether_test_calls_started_total'), [
    'aether_test_calls_started_total{method="(others)"} 10',
    'aether_test_calls_started_total{method="shop/\\"buy\\"\\\\now"} 3',
  ])
  assert.ok(text.includes('# HELP aether_test_calls_started_total Calls that began.\\nA second line, and a \\\\.\n'))
  assert.ok(text.includes('# TYPE aether_test_calls_active gauge\n'))
  assert.equal(linesOf(text, 'aether_test_calls_wait_seconds_total')[1]?.split(' ').at(-1), '1.5')
  assert.ok(text.includes('\naether_test_failures_total{method="buy",code="NOT FOUND"} 4\n'))
})

test('of things with labels there are the figures of all together, which do not jump when one ends', () => {
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const area = new ProfilingArea(memory)
  const blocks = ['one', 'two'].map((label) => ({
    counters: area.counters(calls, label),
    failures: area.counters(failures, label),
    latency: area.histogram(times, label),
  }))
  for (const each of blocks) {
    each.counters.add('started', 1000)
    each.counters.set('active', 1)
    each.failures.add('DEADLINE', 3)
    each.latency.record(1e9)
  }
  const together = (): string[] =>
    prometheusText([{ profile: Profile.read(memory), labels: { rank: '0' } }])
      .split('\n')
      .filter((line) => /^aether_test_(calls|failures|latency)_all_/.test(line) && !line.includes(' 0'))
  const before = together()
  for (const line of [
    'aether_test_calls_all_started_total{rank="0"} 2000',
    'aether_test_failures_all_total{rank="0",code="DEADLINE"} 6',
    'aether_test_latency_all_seconds_count{rank="0"} 2',
    'aether_test_latency_all_seconds_bucket{rank="0",le="+Inf"} 2',
  ])
    assert.ok(before.includes(line), line)
  for (const { counters, failures, latency } of blocks.slice(0, 1)) {
    counters.close()
    failures.close()
    latency.close()
  }
  assert.deepEqual(together(), before)
  const text = prometheusText([source()])
  assert.equal(linesOf(text, 'aether_test_calls_all_active').length, 0)
  assert.ok(text.includes('# HELP aether_test_failures_all_total Calls that failed. Sum over all'))
})

test('a histogram is cumulative, in seconds, and ends with all', () => {
  const text = prometheusText([source()])
  const buckets = linesOf(text, 'aether_test_latency_seconds_bucket{method="buy"')
  const counts = buckets.map((line) => Number(line.split(' ').at(-1)))
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => a - b),
  )
  assert.equal(buckets[0], 'aether_test_latency_seconds_bucket{method="buy",le="2.56e-7"} 1')
  assert.equal(buckets[1], 'aether_test_latency_seconds_bucket{method="buy",le="5.12e-7"} 2')
  assert.equal(buckets.at(-2), 'aether_test_latency_seconds_bucket{method="buy",le="34.359738368"} 3')
  assert.equal(buckets.at(-1), 'aether_test_latency_seconds_bucket{method="buy",le="+Inf"} 4')
  assert.ok(text.includes('aether_test_latency_seconds_count{method="buy"} 4\n'))
  assert.ok(text.includes('aether_test_latency_seconds_sum{method="buy"} 1003.0000004\n'))
})

test('promtool accepts what several ranks say', (context) => {
  const found = spawnSync('promtool', ['--version'])
  if (found.error !== undefined) {
    context.skip('promtool is not installed (Debian: prometheus)')
    return
  }
  const check = (input: string) => spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  const text = prometheusText([source({ rank: '0' }), source({ rank: '1' })])
  const { status, stdout, stderr } = check(text)
  assert.equal(status, 0, stdout + stderr)
  assert.equal(stdout + stderr, '')
  assert.notEqual(check(text.replace('_total', '')).status, 0, 'it would accept anything')
})

test('the handler answers GET and HEAD, and nothing else', async () => {
  const server = createServer(metricsHandler(() => [source()]))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
    const got = await fetch(url)
    assert.equal(got.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal(await got.text(), prometheusText([source()]))
    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const post = await fetch(url, { method: 'POST', body: 'x' })
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

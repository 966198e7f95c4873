import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  defineCounters,
  defineHistogram,
  PROFILING_AREA_BYTES,
  Profile,
  ProfilingArea,
} from '../../src/profiling/index.ts'

const reads = defineCounters('test.reads', ['operations', 'bytesRead', 'queued'], {
  gauges: ['queued'],
  labelled: 'file',
})
const times = defineHistogram('test.time', { labelled: 'file' })

function profileOf(count: (area: ProfilingArea) => void): Profile {
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  count(new ProfilingArea(memory, 0, PROFILING_AREA_BYTES, 5))
  return Profile.read(memory)
}

function work(operations: number, ns: number): Profile {
  return profileOf((area) => {
    const counters = area.counters(reads, 'a')
    counters.add('operations', operations)
    counters.add('bytesRead', operations * 1024)
    counters.set('queued', 1)
    area.histogram(times, 'a').record(ns)
  })
}

test('merging adds up what has the same name and label, of any number of ranks', () => {
  const other = profileOf((area) => area.counters(reads, 'b').add('operations', 5))
  const merged = Profile.merge([work(1, 10), work(2, 30), other])
  const counters = merged.counters().filter(({ rest }) => !rest)
  assert.deepEqual(
    counters.map(({ label, thread, values }) => [label, thread, values['operations'], values['queued']]),
    [
      ['a', -1, 3, 2],
      ['b', -1, 5, 0],
    ],
  )
  const { count, meanNs, maxNs } = merged.histogram('test.time')
  assert.deepEqual([count, meanNs, maxNs], [2, 20, 30])
})

test('a profile goes through JSON as it is, and differences can be taken afterwards', () => {
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const area = new ProfilingArea(memory)
  const counters = area.counters(reads, 'a')
  const histogram = area.histogram(times, 'a')
  for (let ns = 1; ns < 1e9; ns *= 3) histogram.record(ns)
  counters.add('operations', 2)
  const before = Profile.fromJSON(JSON.parse(JSON.stringify(Profile.read(memory))))
  assert.deepEqual(before.toJSON(), Profile.read(memory).toJSON())
  assert.deepEqual(before.histogram('test.time'), Profile.read(memory).histogram('test.time'))
  counters.add('operations', 3)
  histogram.record(7)
  const since = Profile.read(memory).since(before)
  assert.equal(since.total('test.reads', 'operations'), 3)
  assert.equal(since.histogram('test.time').count, 1)
})

test('counters whose names look like numbers keep their order through JSON', () => {
  const answers = defineCounters('test.answers', ['500', '200', '404'], { spread: 'code' })
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const counters = new ProfilingArea(memory).counters(answers)
  counters.add('500', 1)
  counters.add('200', 10)
  counters.add('404', 100)
  const before = Profile.fromJSON(JSON.parse(JSON.stringify(Profile.read(memory))))
  counters.add('200', 5)
  const codes = (profile: Profile) => ['500', '200', '404'].map((code) => profile.total('test.answers', code))
  assert.deepEqual(codes(Profile.read(memory).since(before)), [0, 5, 0])
  assert.deepEqual(codes(Profile.merge([Profile.read(memory), before])), [2, 25, 200])
  assert.equal(Profile.merge([Profile.read(memory), before]).counters().length, 1)
})

test('what was found out goes along: through JSON, sums and differences, the later of a kind and subject', () => {
  const finding = (subject: string, text: string) => ({ kind: 'test', subject, text, details: { bytes: [64, 127] } })
  const early = work(1, 1).withFindings([finding('a', 'first'), finding('b', 'only')])
  const late = early.withFindings([finding('a', 'second')])
  const texts = (profile: Profile) => profile.findings.map(({ subject, text }) => [subject, text])
  assert.deepEqual(texts(late), [
    ['a', 'second'],
    ['b', 'only'],
  ])
  const carried = Profile.fromJSON(JSON.parse(JSON.stringify(late)))
  assert.deepEqual(carried.findings, late.findings)
  assert.deepEqual(texts(carried.since(early)), texts(late))
  assert.deepEqual(texts(Profile.merge([early, work(1, 1), late])), texts(late))
  assert.deepEqual(texts(early), [
    ['a', 'first'],
    ['b', 'only'],
  ])
  assert.match(String(late), /\n\nsecond\n\nonly$/)
  assert.equal(late.total('test.reads', 'operations'), early.total('test.reads', 'operations'))
  assert.throws(() => early.withFindings([undefined as never]), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  const { findings: _, ...older } = early.toJSON()
  assert.deepEqual(Profile.fromJSON(older).findings, [], 'a profile that was written without them has none')
})

test('JSON that is no profile is refused', () => {
  const whole = work(1, 1).toJSON()
  const wrong: unknown[] = [
    null,
    {},
    [],
    'text',
    { ...whole, version: 2 },
    { ...whole, findings: [{ kind: 'a' }] },
    { ...whole, counters: [{ name: 'a' }] },
    { ...whole, counters: [{ ...whole.counters[0], values: { operations: 'many' } }] },
    { ...whole, counters: [{ ...whole.counters[0], names: ['operations', 'others'] }] },
    { ...whole, histograms: [{ ...whole.histograms[0], buckets: [[1]] }] },
  ]
  for (const json of wrong)
    assert.throws(() => Profile.fromJSON(json), { code: 'ERR_AETHER_INVALID_ARGUMENT' }, JSON.stringify(json))
})

test('as text a profile is a table of what is not 0, with units', () => {
  assert.equal(
    String(work(1500, 25_000)),
    [
      'test.reads operations  a    1,500',
      'test.reads bytesRead   a  1.5 MiB',
      'test.reads queued      a        1',
      '',
      '              count     mean      p50      p99      max',
      'test.time  a      1  25.0 µs  25.0 µs  25.0 µs  25.0 µs',
    ].join('\n'),
  )
})

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { MemberSight } from '../../src/dashboard/observed-member.ts'
import { defineHistogram, Profile, ProfilingArea } from '../../src/profiling/index.ts'

const AREA_BYTES = 131_072
const latency = defineHistogram('verbs.latency', { labelled: 'request' })
const fault = defineHistogram('dsm.fault', { labelled: 'region' })
const own = defineHistogram('of.a.program')

/** An area in which two threads count. */
function threads() {
  const buffer = new SharedArrayBuffer(AREA_BYTES)
  const [first, second] = [1, 2].map((thread) => new ProfilingArea(buffer, 0, AREA_BYTES, thread)) as [
    ProfilingArea,
    ProfilingArea,
  ]
  return { first, second, profile: (): Profile => Profile.read(buffer, 0, AREA_BYTES) }
}

const member = { slot: 3, epoch: 9, processId: process.pid, startTime: 0, group: undefined }

test('what several threads of a member have timed is one histogram of the member', () => {
  const { first, second, profile } = threads()
  for (const { area, ns, times } of [
    { area: first, ns: 200, times: 1000 },
    { area: second, ns: 5_000_000, times: 10 },
  ])
    for (const histogram of [area.histogram(latency, 'shm0 others write'), area.histogram(own)])
      for (let time = 0; time < times; time += 1) histogram.record(ns)
  // What has ended is told with what goes on, where nothing tells them apart.
  const ended = first.histogram(own)
  ended.record(200)
  ended.close()
  const { histograms } = new MemberSight(member).look(profile(), 0, 0)
  assert.deepEqual(
    histograms.map(({ name, slot, count }) => [name, slot, count]),
    [
      ['verbs.latency shm0 others write', 3, 1010],
      ['of.a.program', 3, 1011],
    ],
  )
  for (const { p50Ns, p99Ns, maxNs, meanNs } of histograms) {
    assert.ok(p50Ns < 300 && p99Ns < 300, `p50 ${p50Ns}, p99 ${p99Ns}`)
    assert.equal(maxNs, 5_000_000)
    assert.ok(meanNs > 40_000 && meanNs < 60_000, `mean ${meanNs}`)
  }
})

test('how long a member waits for pages is told of all its threads', () => {
  const { first, second, profile } = threads()
  const [seldom, often] = [first.histogram(fault, 'grid'), second.histogram(fault, 'grid')]
  seldom.record(80_000_000)
  for (let time = 0; time < 999; time += 1) often.record(20_000)
  const { frame } = new MemberSight(member).look(profile(), 0, 0)
  assert.ok(frame.waitP50Ns < 25_000 && frame.waitP99Ns < 25_000, `${frame.waitP50Ns}, ${frame.waitP99Ns}`)
})

test('how long a member waits for pages is told of all its regions', () => {
  const { first, profile } = threads()
  const [often, seldom] = [first.histogram(fault, 'grid'), first.histogram(fault, 'seldom')]
  for (let time = 0; time < 10_000; time += 1) often.record(50_000)
  seldom.record(2_000_000_000)
  const { frame } = new MemberSight(member).look(profile(), 0, 0)
  assert.ok(frame.waitP50Ns < 60_000 && frame.waitP99Ns < 60_000, `${frame.waitP50Ns}, ${frame.waitP99Ns}`)
})

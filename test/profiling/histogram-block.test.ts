import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BUCKETS, bucketEnd, bucketOf } from '../../src/profiling/buckets.ts'
import { PROFILING_AREA_BYTES, Profile, ProfilingArea, privateHistogram } from '../../src/profiling/index.ts'

test('a bucket ends at most a sixteenth above any value in it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 - 1 }), (ns) => {
      const end = bucketEnd(bucketOf(ns))
      assert.ok(end >= ns && end <= ns + ns / 16, `${ns} is in the bucket that ends at ${end}`)
    }),
  )
})

test('buckets are in the order of their values, without gaps', () => {
  for (let bucket = 0; bucket < BUCKETS - 1; bucket += 1) {
    assert.equal(bucketOf(bucketEnd(bucket)), bucket)
    assert.equal(bucketOf(bucketEnd(bucket) + 1), bucket + 1)
  }
})

test('values that are no durations or too long have a bucket too', () => {
  assert.equal(bucketOf(-5), 0)
  assert.equal(bucketOf(Number.NaN), 0)
  assert.equal(bucketOf(2 ** 52), BUCKETS - 1)
  assert.equal(bucketOf(Number.POSITIVE_INFINITY), BUCKETS - 1)
})

test('percentiles are those of the recorded values within the precision', () => {
  const histogram = privateHistogram('test.ns')
  for (let ns = 1; ns <= 1000; ns += 1) histogram.record(ns)
  const { count, meanNs, p50Ns, p99Ns, maxNs } = histogram.summary()
  assert.equal(count, 1000)
  assert.equal(meanNs, 500.5)
  assert.equal(maxNs, 1000)
  assert.ok(p50Ns >= 500 && p50Ns <= 532, String(p50Ns))
  assert.ok(p99Ns >= 990 && p99Ns <= 1000, String(p99Ns))
})

test('an empty histogram is all zeros', () => {
  assert.deepEqual(privateHistogram('test.ns').summary(), { count: 0, meanNs: 0, p50Ns: 0, p99Ns: 0, maxNs: 0 })
})

test('a histogram is read from the area, and the difference of two snapshots has its own percentiles', () => {
  const memory = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const histogram = new ProfilingArea(memory).histogram('test.fault.ns')
  for (let i = 0; i < 100; i += 1) histogram.record(10)
  const before = Profile.read(memory)
  for (let i = 0; i < 10; i += 1) histogram.record(20)
  const [all] = Profile.read(memory).histograms()
  const [change] = Profile.read(memory).since(before).histograms()
  assert.equal(all?.name, 'test.fault.ns')
  assert.equal(all?.p50Ns, 10)
  assert.equal(change?.count, 10)
  assert.equal(change?.p50Ns, 20)
})

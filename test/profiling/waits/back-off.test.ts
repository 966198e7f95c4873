import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackOff, watchdogTimes } from '../../../src/profiling/index.ts'

const wait = (key: string, sinceNs = Number.POSITIVE_INFINITY) => ({ key, sinceNs })

test('a wait is told of after its time, then after twice that, four times that, …', () => {
  const backOff = new BackOff(100)
  const told: number[] = []
  for (let now = 1000; now <= 3000; now += 10) if (backOff.step([wait('a')], now).length > 0) told.push(now - 1000)
  assert.deepEqual(told, [100, 200, 400, 800, 1600])
})

test('since when it lasts may be known from before', () => {
  const backOff = new BackOff(100)
  assert.deepEqual(backOff.step([wait('a', 950), wait('b')], 1000), [])
  assert.deepEqual(backOff.step([wait('a', 950), wait('b')], 1050), [wait('a', 950)])
  assert.equal(backOff.ageNs('a', 1050), 100)
  assert.equal(backOff.ageNs('b', 1050), 50)
})

test('what has ended and begins anew gets its time anew', () => {
  const backOff = new BackOff(100)
  backOff.step([wait('a')], 1000)
  backOff.step([], 1050)
  assert.deepEqual(backOff.step([wait('a')], 1090), [])
  assert.deepEqual(backOff.step([wait('a')], 1150), [])
  assert.equal(backOff.step([wait('a')], 1190).length, 1)
})

test('a process that was stopped tells of nothing when it goes on', () => {
  const backOff = new BackOff(100)
  backOff.step([wait('a')], 1000)
  assert.deepEqual(backOff.step([wait('a')], 9000), [])
  assert.deepEqual(backOff.step([wait('a')], 9090), [])
  assert.equal(backOff.step([wait('a')], 9100).length, 1)
})

test('the setting: a number of milliseconds, 0 for off, and a default for what is none', () => {
  assert.deepEqual(watchdogTimes('2000'), { afterMs: 2000, lookMs: 250 })
  assert.equal(watchdogTimes('0'), undefined)
  for (const text of ['', 'soon', '-3']) assert.equal(watchdogTimes(text)?.afterMs, 5000)
  assert.equal(watchdogTimes('1')?.afterMs, 50)
})

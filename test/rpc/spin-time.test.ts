import assert from 'node:assert/strict'
import test from 'node:test'
import { SpinTime } from '../../src/rpc/spin-time.ts'

/** How long the call after these looks. */
function after(...answersMs: number[]): number {
  const time = new SpinTime()
  for (const ms of answersMs) {
    time.begin()
    time.record(ms)
  }
  return time.begin()
}
const often = (ms: number): number[] => Array.from({ length: 50 }, () => ms)

test('who waits looks for a little while before it knows anything', () => assert.equal(after(), 0.2))

test('answers in a microsecond do not make the look shorter than that', () => assert.equal(after(...often(0.001)), 0.2))

test('where answers take longer the look does, too', () => {
  const ms = after(...often(1))
  assert.ok(ms > 1.5 && ms <= 2, `${ms} ms`)
})

test('who would have to look for long naps soon', () => assert.equal(after(...often(100)), 0.2))

test('one slow answer among quick ones does not change it much', () => assert.ok(after(...often(0.5), 3) < 2))

test('a nap that was too long is forgotten', () => {
  const ms = after(...often(4), ...often(0.6))
  assert.ok(ms > 1 && ms < 1.4, `${ms} ms`)
})

test('where a quarter of all answers is very late, who waits still looks for as long as the others take', () => {
  const answers = Array.from({ length: 400 }, (_, call) => (call % 4 === 3 ? 40 : 1))
  const ms = after(...answers)
  assert.ok(ms > 1.5 && ms < 3, `${ms} ms`)
})

test('naps that make answers late are left again, where these come soon to who looks', () => {
  const time = new SpinTime()
  for (const ms of often(100)) {
    time.begin()
    time.record(ms)
  }
  // Each takes 1 ms, and is found when it was looked for as long; after a nap, 6 ms later.
  for (let call = 0; call < 50; call += 1) time.record(time.begin() >= 1 ? 1 : 7)
  const ms = time.begin()
  assert.ok(ms > 1.5 && ms < 3, `${ms} ms`)
})

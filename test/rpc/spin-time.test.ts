import assert from 'node:assert/strict'
import test from 'node:test'
import { SpinTime } from '../../src/rpc/spin-time.ts'

function after(...answersMs: number[]): number {
  const time = new SpinTime()
  for (const ms of answersMs) time.record(ms)
  return time.ms
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

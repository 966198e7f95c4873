import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Random, Timers } from '../../src/runtime/index.ts'

test('timers run in the order of their times, each once, none early', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(1000), { maxLength: 200 }),
      fc.array(fc.nat(1000), { maxLength: 20 }),
      (times, looks) => {
        const timers = new Timers()
        const ran: number[] = []
        for (const at of times) timers.at(at, () => ran.push(at))
        let now = 0
        for (const look of looks.slice().sort((a, b) => a - b)) {
          now = look
          const due = times.filter((at) => at <= now).length
          const before = ran.length
          assert.equal(timers.runDue(now), due > before)
          assert.equal(ran.length, due)
          assert.ok(timers.nextNs > now)
        }
        timers.runDue(1000)
        assert.deepEqual(
          ran,
          times.slice().sort((a, b) => a - b),
        )
        assert.equal(timers.nextNs, Number.POSITIVE_INFINITY)
      },
    ),
  )
})

test('a timer may set others, also due ones', () => {
  const timers = new Timers()
  const ran: string[] = []
  timers.at(5, () => {
    ran.push('first')
    timers.at(5, () => ran.push('second'))
    timers.at(6, () => ran.push('late'))
  })
  assert.equal(timers.runDue(4), false)
  assert.equal(timers.runDue(5), true)
  assert.deepEqual(ran, ['first', 'second'])
  assert.equal(timers.nextNs, 6)
})

test('a seed gives one stream, another seed another', () => {
  const take = (seed: number): number[] =>
    Array.from(
      { length: 50 },
      (
        (random) => () =>
          random.uint32()
      )(new Random(seed)),
    )
  assert.deepEqual(take(7), take(7))
  assert.notDeepEqual(take(7), take(8))
  assert.ok(take(7).every((value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32))
})

test('below() reaches every number below its bound, about as often as the others', () => {
  const random = new Random(1)
  const counts = new Array<number>(10).fill(0)
  for (let round = 0; round < 10_000; round += 1) counts[random.below(10)]! += 1
  assert.ok(
    counts.every((count) => count > 800 && count < 1200),
    counts.join(),
  )
})

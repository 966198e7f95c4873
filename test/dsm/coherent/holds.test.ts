import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Holds } from '../../../src/dsm/coherent/holds.ts'
import { Random, Timers } from '../../../src/runtime/index.ts'

/**
 * A thread of this test alone: a real one is put off its processor by a busy machine, in the middle of a case (native's
 * count of turns has its own tests).
 */
const thread = 77
const turns = 1000
/** As if the thread had been off a processor since it faulted, or not. */
const notRun = turns
const hasRun = turns - 1

function world(): {
  holds: Holds
  at: (ns: number) => void
  waits: Map<number, number>
  released: number[]
  fresh: Set<number>
} {
  let now = 0
  const waits = new Map<number, number>()
  const released: number[] = []
  const fresh = new Set<number>()
  const timers = new Timers()
  const holds = new Holds({
    runtime: { now: () => now, timers, random: new Random(1) },
    threadTurns: () => turns,
    isFresh: (page) => fresh.has(page),
    waiterOf: (page) => waits.get(page) ?? 0,
    release: (page) => released.push(page),
  })
  const at = (ns: number): void => {
    now = ns
    timers.runDue(now)
  }
  return { holds, at, waits, released, fresh }
}

test('a granted page stays for 20 microseconds, then until its thread has run, never above 20 milliseconds', () => {
  const { holds, at, released, fresh } = world()
  holds.begin(1, thread, hasRun)
  assert.equal(holds.mustStay(1), true)
  at(20_000)
  assert.deepEqual(released, [1])
  assert.equal(holds.mustStay(1), false)
  assert.equal(holds.mustStay(1), false)
  holds.begin(2, 0, 0)
  fresh.add(2)
  at(100_000)
  assert.equal(holds.mustStay(2), true)
  at(20_020_000)
  assert.equal(holds.mustStay(2), false)
  assert.equal(holds.mustStay(3), false)
})

test('however often it is asked whether a page must stay, it is looked at again once', () => {
  const { holds, at, released } = world()
  holds.begin(1, thread, notRun)
  for (let time = 0; time < 3; time += 1) assert.equal(holds.mustStay(1), true)
  at(20_000)
  assert.deepEqual(released, [1])
  for (let time = 0; time < 3; time += 1) assert.equal(holds.mustStay(1), true)
  at(70_000)
  assert.deepEqual(released, [1, 1])
})

test('a page stays while its thread waits for the one behind it, and until it has run with both', () => {
  const { holds, at, waits } = world()
  holds.begin(1, thread, hasRun)
  waits.set(2, thread)
  at(1e6)
  assert.equal(holds.mustStay(1), true)
  waits.delete(2)
  holds.begin(2, thread, hasRun)
  assert.equal(holds.mustStay(1), false)
  // The other way round nothing is kept: or two ranks with one page each would wait for each other.
  holds.begin(5, thread, hasRun)
  waits.set(4, thread)
  at(2e6)
  assert.equal(holds.mustStay(5), false)
  // Another thread's wait is none of ours.
  holds.begin(7, thread, hasRun)
  waits.set(8, thread + 1)
  at(3e6)
  assert.equal(holds.mustStay(7), false)
})

test('not even such a page stays for ever', () => {
  const { holds, at, waits } = world()
  holds.begin(1, thread, notRun)
  waits.set(2, thread)
  at(19_999_999)
  assert.equal(holds.mustStay(1), true)
  at(20_000_000)
  assert.equal(holds.mustStay(1), false)
})

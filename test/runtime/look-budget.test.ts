import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LookBudget } from '../../src/runtime/look-budget.ts'

/** An end that waits, with a clock of its own. */
class Waiting {
  readonly #budget = new LookBudget(() => this.#preemptions)
  #nowMs = 1000
  #preemptions = 0

  /** Wait for what comes after `afterMs`, a turn each 0.001 ms. Returns how long it looked; 0: it slept at once. */
  wait(afterMs: number): number {
    const fromMs = this.#nowMs
    for (;;) {
      if (!this.#budget.looksOn(this.#nowMs)) break
      this.#nowMs += 0.001
      if (this.#nowMs - fromMs < afterMs) continue
      this.#budget.found(this.#nowMs)
      break
    }
    return this.#nowMs - fromMs
  }

  /** Look, and be taken the processor away for so long; then something is there. */
  interrupted(forMs: number): void {
    if (!this.#budget.looksOn(this.#nowMs)) return
    this.#preemptions += 1
    this.#nowMs += forMs
    this.#budget.found(this.#nowMs)
  }

  sleeps(count: number, ms: number): void {
    for (let time = 0; time < count; time += 1) this.#budget.slept(ms)
  }

  /** Look, and go on when the program has done something else for so long. */
  busy(forMs: number): void {
    if (!this.#budget.looksOn(this.#nowMs)) return
    this.#nowMs += forMs
    if (this.#budget.looksOn(this.#nowMs)) this.#budget.found(this.#nowMs)
  }

  waits(count: number, afterMs: number): number[] {
    return Array.from({ length: count }, () => this.wait(afterMs))
  }
}

const looked = (waits: readonly number[]): number => waits.filter((ms) => ms > 0).length
const sum = (waits: readonly number[]): number => waits.reduce((all, ms) => all + ms, 0)

test('answers that come soon are looked for each time', () => {
  assert.equal(looked(new Waiting().waits(1000, 0.01)), 1000)
})

test('a look ends after 0.05 ms', () => {
  const lookedMs = new Waiting().wait(100)
  assert.ok(lookedMs > 0.04 && lookedMs < 0.06, String(lookedMs))
})

test('looks in vain take a twentieth of what waking up takes, after those at the start', () => {
  const end = new Waiting()
  const atFirstMs = sum(end.waits(100, 10))
  assert.ok(atFirstMs > 0.5 && atFirstMs < 0.7, String(atFirstMs))
  const laterMs = sum(end.waits(10_000, 10))
  assert.ok(laterMs > 0 && laterMs <= 10_000 * 0.0011, String(laterMs))
})

test('a few interruptions among answers that come soon change nothing', () => {
  const end = new Waiting()
  end.waits(1000, 0.01)
  for (let time = 0; time < 10; time += 1) {
    end.interrupted(1)
    assert.equal(looked(end.waits(100, 0.01)), 100)
  }
})

test('where waking up takes longer, a look does', () => {
  const end = new Waiting()
  end.sleeps(64, 0.12)
  const longMs = end.wait(100)
  assert.ok(longMs > 0.14 && longMs < 0.16, String(longMs))
  // Whoever waits for long has not found out what waking up takes, and it is never taken for less than a system call.
  end.sleeps(64, 50)
  assert.ok(end.wait(100) < 0.26)
  end.sleeps(64, 0.001)
  assert.ok(end.wait(100) < 0.06)
})

test('what the program itself does in the middle of a look is not held against looking', () => {
  const end = new Waiting()
  end.waits(1000, 0.01)
  for (let time = 0; time < 100; time += 1) {
    end.busy(100)
    assert.equal(looked(end.waits(10, 0.01)), 10)
  }
})

test('interruptions that take more than looking saves have it sleep nearly always', () => {
  const end = new Waiting()
  end.waits(1000, 0.01)
  let looks = 0
  for (let time = 0; time < 10_000; time += 1) {
    const lookedMs = end.wait(0.01)
    if (lookedMs === 0) continue
    looks += 1
    if (looks % 10 === 0) end.interrupted(3)
  }
  assert.ok(looks > 0 && looks < 500, String(looks))
})

test('after the worst it looks again once it has slept 3,000 times, and goes on if answers come soon', () => {
  const end = new Waiting()
  end.interrupted(1000)
  assert.equal(looked(end.waits(2900, 0.01)), 0)
  assert.equal(looked(end.waits(300, 0.01)) > 0, true)
  assert.equal(looked(end.waits(100, 0.01)), 100)
})

test('who waits no more in the middle of a look has lost nothing, and looks the next time', () => {
  const budget = new LookBudget(() => 0)
  for (let time = 0; time < 1000; time += 1) {
    assert.equal(budget.looksOn(1000), true)
    budget.leave()
    assert.equal(budget.isLooking, false)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WakefulLoop } from '../../src/runtime/wakeful-loop.ts'

/** An event loop whose turns and clock are those of the test, and a budget of looks. */
class Loop {
  readonly slept: number[] = []
  readonly found: number[] = []
  looksLeft = 0
  nowMs = 100
  #isLooking = false
  readonly #turns: (() => void)[] = []
  readonly wakeful = new WakefulLoop({
    budget: Object.defineProperty(
      {
        isLooking: false,
        looksOn: () => {
          this.looksLeft -= 1
          this.#isLooking = this.looksLeft >= 0
          return this.#isLooking
        },
        found: (nowMs: number) => {
          this.#isLooking = false
          this.found.push(nowMs)
        },
        slept: (ms: number) => this.slept.push(ms),
      },
      'isLooking',
      { get: () => this.#isLooking },
    ),
    nowMs: () => this.nowMs,
    nextTurn: (run) => this.#turns.push(run),
  })

  /** False if it would have slept. */
  turn(): boolean {
    const runs = this.#turns.splice(0)
    for (const run of runs) run()
    return runs.length > 0
  }
}

test('an event loop looks on after something has come, as long as its budget says so', () => {
  const loop = new Loop()
  assert.equal(loop.turn(), false)
  loop.nowMs = 130
  loop.looksLeft = 3
  loop.wakeful.came()
  assert.deepEqual(loop.slept, [30])
  // One turn for each look, and one in which there is none.
  for (let turn = 0; turn < 4; turn += 1) assert.equal(loop.turn(), true)
  assert.equal(loop.turn(), false)
  assert.deepEqual(loop.found, [])
})

test('what comes during a look is told to the budget, and what comes before it is not', () => {
  const loop = new Loop()
  loop.looksLeft = 10
  loop.wakeful.came()
  loop.wakeful.came()
  assert.deepEqual(loop.found, [])
  loop.turn()
  loop.nowMs = 101
  loop.wakeful.came()
  loop.wakeful.came()
  assert.deepEqual(loop.found, [101])
  // Only the first one had to be waited for asleep, and only one look is under way.
  assert.deepEqual(loop.slept, [0])
  loop.looksLeft = 1
  assert.equal(loop.turn(), true)
  assert.equal(loop.looksLeft, 0)
})

test('an event loop that looked in vain has slept when the next thing comes', () => {
  const loop = new Loop()
  loop.wakeful.came()
  loop.nowMs = 105
  loop.turn()
  loop.nowMs = 205
  loop.wakeful.came()
  assert.deepEqual(loop.slept, [0, 100])
})

test('what comes to its own descriptors is attended to in a look, without asking the budget, and it looks on', () => {
  const turns: (() => void)[] = []
  let [come, asked] = [2, 0]
  const wakeful = new WakefulLoop({
    budget: {
      isLooking: false,
      looksOn: () => {
        asked += 1
        return false
      },
      found: () => undefined,
      slept: () => undefined,
    },
    poll: () => {
      if (come === 0) return false
      come -= 1
      return true
    },
    nowMs: () => 0,
    nextTurn: (run) => turns.push(run),
  })
  wakeful.came()
  const left: number[] = []
  for (let run = turns.shift(); run !== undefined; run = turns.shift()) {
    run()
    left.push(come)
  }
  assert.deepEqual(left, [1, 0, 0])
  assert.equal(asked, 1)
})

/** Which calls a shard takes when it is asked for more than it can do. Time is that of the test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Admission, type AdmissionOptions } from '../../src/index-service/admission.ts'
import { IndexError } from '../../src/index-service/errors.ts'

/** Answers calls in their order, some in each millisecond. */
class SlowShard {
  readonly #admission: Admission
  readonly #line: { readonly beganMs: number; readonly done: () => void }[] = []
  #nowMs = 0
  answered: number[] = []
  refused = 0
  /** The longest that a refusal took. */
  refusedMs = 0
  mostCalls = 0

  constructor(options: Partial<AdmissionOptions> = {}) {
    const common = { name: 'slow', callsMax: 1024, shortens: true, nowMs: () => this.#nowMs }
    this.#admission = new Admission({ ...common, ...options })
  }

  get calls(): number {
    return this.#line.length
  }

  call(bytes = 0): void {
    const beganMs = this.#nowMs
    this.#admission
      .during(bytes, () => new Promise<void>((done) => this.#line.push({ beganMs, done })))
      .then(
        () => this.answered.push(this.#nowMs - beganMs),
        (error: unknown) => {
          assert.ok(error instanceof IndexError && error.code === 'ERR_AETHER_INDEX_BUSY')
          assert.equal(error.outcome, 'not-applied')
          this.refused += 1
          this.refusedMs = Math.max(this.refusedMs, this.#nowMs - beganMs)
        },
      )
    this.mostCalls = Math.max(this.mostCalls, this.#line.length)
  }

  /** In each millisecond `come` calls come, and `answer` are answered. */
  async run(forMs: number, { come, answer }: { readonly come: number; readonly answer: number }): Promise<void> {
    for (let ms = 0; ms < forMs; ms += 1) {
      for (let each = 0; each < come; each += 1) this.call()
      await turn()
      this.#nowMs += 1
      for (const { done } of this.#line.splice(0, answer)) done()
      await turn()
    }
  }

  /** How long calls took, of the slowest hundredth the fastest; and forget them. */
  p99(): number {
    const sorted = this.answered.toSorted((one, other) => one - other)
    this.answered = []
    return sorted[Math.floor(sorted.length * 0.99)]!
  }
}

for (const load of [2, 4, 20])
  test(`at ${load} times what a shard can do, calls that it takes are answered soon, and the others refused at once`, async () => {
    const shard = new SlowShard()
    await shard.run(500, { come: 5, answer: 10 })
    const before = shard.p99()
    assert.equal(shard.refused, 0)
    await shard.run(300, { come: 10 * load, answer: 10 })
    shard.p99()
    shard.refused = 0
    await shard.run(1000, { come: 10 * load, answer: 10 })
    assert.equal(shard.answered.length, 10_000, 'it did less than it can')
    assert.ok(Math.abs(shard.refused - 10_000 * (load - 1)) < 300, `${shard.refused} were refused`)
    assert.equal(shard.refusedMs, 0)
    const after = shard.p99()
    assert.ok(before <= 1 && after <= 25, `${before} ms, then ${after} ms`)
  })

test('programs that wait for answers are never refused, however slow the shard is', async () => {
  const shard = new SlowShard()
  for (let each = 0; each < 1000; each += 1) shard.call()
  await shard.run(2000, { come: 5, answer: 5 })
  assert.equal(shard.refused, 0)
})

test('a queue may be as long as what a shard takes anyway asks for', async () => {
  const shard = new SlowShard()
  // Such as a disk that is slow, and stores any number of writes at once.
  const slow = async (come: number, rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await shard.run(49, { come, answer: 0 })
      await shard.run(1, { come, answer: 10_000 })
    }
  }
  await slow(1, 40)
  await slow(10, 40)
  assert.equal(shard.refused, 0)
})

test('bursts are taken, and calls wait while nothing is answered, up to a maximum', async () => {
  const shard = new SlowShard()
  for (let burst = 0; burst < 10; burst += 1) {
    for (let each = 0; each < 1024; each += 1) shard.call()
    await shard.run(50, { come: 0, answer: 25 })
  }
  assert.equal(shard.refused, 0)
  await shard.run(200, { come: 1, answer: 0 })
  await shard.run(100, { come: 0, answer: 10 })
  for (let each = 0; each < 1025; each += 1) shard.call()
  await turn()
  assert.equal(shard.refused, 1)
})

test('a few calls at a time are never refused, however long they take', async () => {
  const shard = new SlowShard()
  for (let each = 0; each < 63; each += 1) shard.call()
  for (let second = 0; second < 20; second += 1) {
    await shard.run(999, { come: 0, answer: 0 })
    await shard.run(1, { come: 1, answer: 1 })
  }
  assert.equal(shard.refused, 0)
})

test('after the load is over, a shard takes bursts again', async () => {
  const shard = new SlowShard()
  await shard.run(500, { come: 100, answer: 10 })
  assert.ok(shard.refused > 0)
  await shard.run(200, { come: 1, answer: 10 })
  shard.refused = 0
  for (let each = 0; each < 1000; each += 1) shard.call()
  await turn()
  assert.equal(shard.refused, 0)
})

test('a node takes what it may have at a time', async () => {
  const shard = new SlowShard({ callsMax: 100, shortens: false })
  await shard.run(1000, { come: 20, answer: 1 })
  assert.equal(shard.mostCalls, 100)
  assert.ok(shard.answered.every((tookMs) => tookMs <= 100))
})

test('calls under way have a bounded number of bytes, but a single one may have more', async () => {
  const shard = new SlowShard()
  shard.call(200 * 2 ** 20)
  shard.call(1)
  await turn()
  assert.equal(shard.refused, 1)
  await shard.run(1, { come: 0, answer: 1 })
  for (let each = 0; each < 40; each += 1) shard.call(4 * 2 ** 20)
  await turn()
  assert.equal(shard.calls, 32)
  assert.equal(shard.refused, 9)
})

test('a refusal of the node makes a client send less for a moment', async () => {
  let nowMs = 0
  const admission = new Admission({ name: 'slow', callsMax: 1024, shortens: true, nowMs: () => nowMs })
  const busy = new IndexError('BUSY', 'the node has enough', { outcome: 'not-applied' })
  await assert.rejects(
    admission.during(0, () => Promise.reject(busy)),
    busy,
  )
  const sent: (() => void)[] = []
  const burst = (): void => {
    for (let each = 0; each < 200; each += 1)
      admission.during(0, () => new Promise<void>((done) => sent.push(done))).catch(() => undefined)
  }
  burst()
  assert.equal(sent.length, 64)
  for (const done of sent.splice(0)) done()
  await turn()
  nowMs += 1000
  burst()
  assert.equal(sent.length, 200)
})

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ClosedError } from '../../../src/native/index.ts'
import { LocalMemory } from '../../../src/structures/memory/local-memory.ts'
import type { Peers } from '../../../src/structures/peers.ts'
import { BELL_BYTES, Bell, type BellHome } from '../../../src/structures/waiting/bell.ts'

const WANTED = 4

/** Two bells of one member, and a value that is waited for at the first. */
class Place implements BellHome {
  readonly memory = new LocalMemory(new Uint8Array(new SharedArrayBuffer(2 * BELL_BYTES)))
  readonly peers: Peers
  readonly bell: Bell
  readonly other: Bell
  value: string | undefined
  /** What each attempt was asked. */
  asked: boolean[] = []
  #isClosed = false
  readonly #listeners = new Set<() => void>()

  constructor() {
    const onRing = (listener: () => void) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    }
    const isThere = () => true
    const ring = () => {
      for (const listener of [...this.#listeners]) listener()
    }
    this.peers = { slot: 0, epoch: 1, isPresent: isThere, isAlive: isThere, ring, onRing, onChange: onRing }
    this.bell = new Bell(this, 0)
    this.other = new Bell(this, BELL_BYTES)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** A waiter sleeps, or is about to. */
  get isWanted(): boolean {
    return this.memory.load(WANTED) !== 0
  }

  readonly attempt = (ask: boolean): string | undefined => {
    this.asked.push(ask)
    return this.value
  }

  wait(signal?: AbortSignal): Promise<string> {
    return this.bell.wait(this.attempt, signal && { signal })
  }

  checkOpen(): void {
    if (this.#isClosed) throw new ClosedError('the place')
  }

  close(): void {
    this.#isClosed = true
  }

  /** In the next turn of the event loop, before what is put there from now on. */
  soon(change: () => void): void {
    setImmediate(change)
  }

  async untilAsleep(): Promise<void> {
    while (!this.isWanted) await turn()
  }
}

test('what comes in the next turn is found by a look, without a ring', async () => {
  const place = new Place()
  place.soon(() => {
    place.value = 'it'
  })
  assert.equal(await place.wait(), 'it')
  assert.equal(place.isWanted, false)
})

test('a look ends: then the waiter sleeps until it is rung', async () => {
  const place = new Place()
  const waiting = place.wait()
  await place.untilAsleep()
  place.asked = []
  for (let count = 0; count < 100; count += 1) await turn()
  assert.equal(place.asked.includes(false), false, 'only looks ask for no more than memory')
  place.value = 'it'
  place.bell.ring()
  assert.equal(await waiting, 'it')
  assert.equal(place.listeners, 0)
})

test('who rings in advance is looked for', async () => {
  const place = new Place()
  const waiting = place.wait()
  await place.untilAsleep()
  place.soon(() => {
    place.value = 'it'
  })
  place.bell.ring()
  assert.equal(await waiting, 'it')
  assert.equal(place.isWanted, false)
})

test('a ring in advance of nothing is forgotten: the next one wakes', async () => {
  const place = new Place()
  const waiting = place.wait()
  for (let count = 0; count < 100; count += 1) {
    await place.untilAsleep()
    place.bell.ring()
    await turn()
  }
  await place.untilAsleep()
  place.value = 'it'
  place.bell.ring()
  assert.equal(await waiting, 'it')
})

test('the ring of another bell wakes, and is not taken for a sign that something comes', async () => {
  const place = new Place()
  const others = place.other.wait(() => undefined, { signal: AbortSignal.timeout(60_000) })
  others.catch(() => {})
  const waiting = place.wait()
  await place.untilAsleep()
  while (place.memory.load(BELL_BYTES + WANTED) === 0) await turn()
  place.asked = []
  place.other.ring()
  for (let count = 0; count < 10; count += 1) await turn()
  assert.equal(place.asked[0], true)
  assert.equal(place.asked.includes(false), false)
  place.close()
  place.bell.ring()
  place.other.ring()
  await assert.rejects(waiting, ClosedError)
  await assert.rejects(others, ClosedError)
})

test('it can be aborted and closed during a look, and the next waiter looks again', async () => {
  const place = new Place()
  const stop = new AbortController()
  place.soon(() => stop.abort(new Error('enough')))
  await assert.rejects(place.wait(stop.signal), { message: 'enough' })
  assert.equal(place.isWanted, false)
  place.soon(() => {
    place.value = 'it'
  })
  assert.equal(await place.wait(), 'it')
  assert.equal(place.isWanted, false)
  place.value = undefined
  place.soon(() => place.close())
  await assert.rejects(place.wait(), ClosedError)
  assert.equal(place.listeners, 0)
})

test('an abort while it sleeps is noticed at once, also if what it waits for has come meanwhile', async () => {
  const place = new Place()
  const stop = new AbortController()
  const waiting = place.wait(stop.signal)
  await place.untilAsleep()
  place.value = 'it'
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
})

test('of several waiters one looks, and all are woken', async () => {
  const place = new Place()
  const waiting = [place.wait(), place.wait(), place.wait()]
  assert.equal(place.isWanted, false)
  await Promise.resolve()
  await place.untilAsleep()
  place.value = 'it'
  place.bell.ring()
  assert.deepEqual(await Promise.all(waiting), ['it', 'it', 'it'])
})

test('an ear serves for one wait after another, and leaves nothing that keeps the process alive', async () => {
  const place = new Place()
  const timeouts = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate')
  const before = timeouts()
  {
    using ear = place.bell.listen(undefined)
    for (const value of ['one', 'two', 'three']) {
      place.value = undefined
      const waiting = place.bell.waitOn(ear, place.attempt, { signal: undefined })
      await place.untilAsleep()
      place.value = value
      place.bell.ring()
      assert.equal(await waiting, value)
      place.bell.ring()
    }
  }
  assert.deepEqual(timeouts(), before)
  assert.equal(place.listeners, 0)
})

test('a waiter that spins sees what is there without a ring, and sleeps afterwards as ever', async () => {
  const place = new Place()
  using ear = place.bell.listen(undefined)
  const spinning = place.bell.waitOn(ear, place.attempt, { signal: undefined, spinMs: 60_000 })
  setTimeout(() => {
    place.value = 'seen'
  }, 5)
  assert.equal(await spinning, 'seen')
  place.value = undefined
  const asleep = place.bell.waitOn(ear, place.attempt, { signal: undefined, spinMs: 1 })
  await place.untilAsleep()
  place.value = 'rung'
  place.bell.ring()
  assert.equal(await asleep, 'rung')
})

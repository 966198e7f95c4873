import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandOvers } from '../../src/index-service/node/hand-overs.ts'

test('a shard that comes back is handed to the same process ever more rarely, to another at once', () => {
  const handOvers = new HandOvers()
  assert.equal(handOvers.mayTry(1, 10, 0), true)
  const waited: number[] = []
  let now = 0
  for (let time = 0; time < 9; time += 1) {
    handOvers.done(1, 10, now)
    const last = now
    while (!handOvers.mayTry(1, 10, now)) now += 1000
    waited.push((now - last) / 1000)
  }
  assert.deepEqual(waited, [10, 20, 40, 80, 160, 320, 600, 600, 600])
  handOvers.done(1, 10, now)
  assert.equal(handOvers.mayTry(2, 10, now), true)
  assert.equal(handOvers.mayTry(1, 11, now), true)
  // It was kept for long: what came before is forgotten.
  now += 2_000_000
  handOvers.done(1, 10, now)
  assert.deepEqual([handOvers.mayTry(1, 10, now + 9999), handOvers.mayTry(1, 10, now + 10_000)], [false, true])
})

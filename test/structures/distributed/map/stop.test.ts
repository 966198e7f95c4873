import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import type { GroupMap } from '../../../../src/structures/index.ts'
import { FakeWorld } from '../fake-world.ts'

type Act = (map: GroupMap<number>) => Promise<unknown>

/** What a rank is stopped in: its name, what is there before, what it does, what is there if it did. */
const acts: readonly (readonly [string, number | undefined, Act, number | undefined])[] = [
  ['set of a new key', undefined, (map) => map.set('k', 2), 2],
  ['set', 1, (map) => map.set('k', 2), 2],
  ['setIfAbsent', undefined, (map) => map.setIfAbsent('k', 2), 2],
  ['compareAndSet', 1, (map) => map.compareAndSet('k', 1, 2), 2],
  ['update', 1, (map) => map.update('k', (value) => (value ?? 0) + 1), 2],
  ['delete', 1, (map) => map.delete('k'), undefined],
  ['get', 1, (map) => map.get('k'), 1],
  ['clear', 1, (map) => map.clear(), undefined],
]

const STEPS_MAX = 60

for (const [name, before, act, after] of acts) {
  test(`a rank that is stopped between any two steps of ${name} has done it or not, holds up nobody, and leaves nothing`, async () => {
    const outcomes = new Set<number | undefined>()
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const world = new FakeWorld(3, steps + 1, 1024 * 1024, [0])
      const maps = await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number }))))
      if (before !== undefined) await world.play(maps[2]!.set('k', before))
      world.ranks[1]!.stepsLeft = steps
      let done = false
      void act(maps[1]!).then(() => (done = true))
      // Others are about the same key meanwhile, in every second order.
      if (steps % 2 === 1) await world.play(maps[2]!.get('k'))
      await world.play(world.ranks[0]!.sleep(0.5))
      world.stop(1)
      const seen = await world.play(maps[0]!.get('k'))
      outcomes.add(seen)
      assert.ok(seen === before || seen === after, `${steps}: ${seen}`)
      if (done) assert.equal(seen, after, `${steps}`)
      await world.play(world.ranks[0]!.sleep(2))
      assert.equal(await world.play(maps[2]!.get('k')), await world.play(maps[0]!.get('k')))
      await world.play(maps[2]!.set('k', 7))
      assert.equal(await world.play(maps[0]!.get('k')), 7)
      await assertNothingLeft(world, steps)
    }
    assert.deepEqual(outcomes, new Set([before, after]))
  })
}

/** Nothing belongs to the rank that was stopped but the tables of what it made, and no claim stays. */
async function assertNothingLeft(world: FakeWorld, steps: number): Promise<void> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const { blocks, tables, tentative } = await world.play(takeCensus(home.on('a census')))
  assert.deepEqual(tentative, [], `${steps}`)
  // The name of the map, and its one entry.
  assert.equal(blocks.size, 2, `${steps}`)
  const taken = await world.play(home.pool.chunks.taken())
  const lost = taken.filter(({ owner, index }) => owner === 1 && !tables.has(index * 65_536))
  assert.deepEqual(lost, [], `${steps}`)
}

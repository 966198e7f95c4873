/** What processes leave that are killed at any access to memory is whole: it is never told as damage. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { Random } from '../../../src/runtime/index.ts'
import { checkHeap } from '../../../src/structures/checking/check-heap.ts'
import { HeapFullError } from '../../../src/structures/errors.ts'
import type { StructureKindName } from '../../../src/structures/heap/structure-kind.ts'
import { Town } from '../town.ts'
import { plays } from './plays.ts'

const SEED = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 60)
const SPACE = { lastEpoch: 2 ** 20, nowMs: performance.now() }
console.log(`AETHER_TEST_SEED=${SEED} repeats it`)

function assertWhole(town: Town, what: string): void {
  const { damaged, lost, lostBytes } = checkHeap(town.bytes, SPACE)
  assert.deepEqual(damaged, [], what)
  assert.equal(lostBytes, 0, `${what}: ${JSON.stringify(lost)}`)
}

/**
 * A heap of 14 slabs may be full: each of those that died has left slabs with a block or two, and others need blocks of
 * other sizes. That is no damage either.
 */
function unlessFull(turn: () => void): void {
  try {
    turn()
  } catch (error) {
    if (!(error instanceof HeapFullError)) throw error
  }
}

for (const [kind, play] of Object.entries(plays) as [StructureKindName, (typeof plays)[StructureKindName]][])
  test(`${kind}: after each of ${KILLS} kills, before and after the next member has recovered it`, () => {
    const random = new Random(SEED)
    const town = new Town()
    const resident = town.settle()
    const ofResident = play(resident)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const calls = 1 + random.below(random.below(4) === 0 ? 3000 : 250)
      const victim = town.settle(false)
      victim.killedAfter(calls, () => {
        victim.heap.join()
        const turn = play(victim)
        for (let turns = 0; turns < 20; turns += 1) unlessFull(() => turn(random))
      })
      victim.memory.callsLeft = 0
      assertWhole(town, `kill ${kill}, at access ${calls}`)
      town.bury(victim)
      if (random.below(3) === 0) resident.heap.recover(true)
      for (let turns = 0; turns < 4; turns += 1) unlessFull(() => ofResident(random))
      assertWhole(town, `after kill ${kill}`)
    }
  })

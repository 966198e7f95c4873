import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../../src/runtime/index.ts'
import type { GroupMap } from '../../../../src/structures/index.ts'
import { Histories } from '../histories.ts'
import { SimulatedWorld } from '../simulated-world.ts'
import { ENDS, LEFT, playThroughACrash, RANKS, rough } from '../through-a-stop.ts'
import { entriesOf, fill, openSmallTables, tablesOf } from './small-tables.ts'

const HOME = 2 * 1024 * 1024
/** 56 slots a table. */
const BUCKETS = 8
/** How many courses are drawn; AETHER_TEST_HISTORIES=1000 makes a soak of it. */
const SEEDS = Math.ceil(Number(process.env['AETHER_TEST_HISTORIES'] ?? 150) / 8)
const FILLED = 44
const GROWN = 60
/**
 * About how long it takes to grow, in virtual time: where packets are lost, mostly waiting until they are sent again.
 */
const WORK_NS = { smooth: 1_200_000, rough: 3_000_000_000 }

test('over adapters and networks of which some are rough, a map grows while ranks crash and pause; nothing that was acknowledged is lost, and no table is left over', async () => {
  const seen = { crashed: 0, split: 0, left: 0 }
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const isRough = seed % 4 === 0
    using world = new SimulatedWorld(RANKS, seed, isRough ? rough : {}, [0], undefined, HOME)
    const random = new Random(seed)
    const histories = new Histories(() => world.cluster.nowNs)
    const maps = await openSmallTables(world, BUCKETS)
    await world.play(fill(maps[0]!, 0, FILLED))
    const acknowledged: number[] = Array.from({ length: FILLED }, (_, key) => key)
    const grow = async (rank: number): Promise<void> => {
      for (let key = 1000 * (rank + 1); key < 1000 * (rank + 1) + GROWN; key += 1) {
        await maps[rank]!.set(key, key)
        acknowledged.push(key)
      }
    }
    const reread = async (map: GroupMap<number>): Promise<void> => {
      for (let key = 0; key < FILLED; key += 1) assert.equal(await map.get(key), key, `seed ${seed}, ${key}`)
    }
    const begin = (rank: number): readonly Promise<void>[] => [
      grow(rank),
      reread(maps[rank]!),
      histories.makeCalls(maps[rank]!, seed * 100 + rank, 8, 3),
    ]
    const afterNs = random.below(isRough ? WORK_NS.rough : WORK_NS.smooth)
    await playThroughACrash(world, seed, begin, { afterNs, pauseNs: random.below(400_000) })
    if (world.crashed.has(ENDS)) seen.crashed += 1
    // Those who are left are told, settle what the other left, and go on.
    await world.play(world.ranks[0]!.sleep(10))
    await world.play(Promise.all(LEFT.map((rank) => fill(maps[rank]!, 10_000 * (rank + 1), 20))))
    for (const rank of LEFT) for (let key = 0; key < 20; key += 1) acknowledged.push(10_000 * (rank + 1) + key)
    histories.check(`seed ${seed}`)
    const found = await world.play(entriesOf(maps[LEFT.at(-1)!]!))
    for (const key of acknowledged) assert.equal(found.get(key), key, `seed ${seed}, ${key}`)
    assert.equal(await world.play(maps[0]!.size()), found.size, `seed ${seed}`)
    const { live, taken } = await tablesOf(world)
    if (live.size > 2) seen.split += 1
    seen.left += [...taken].filter((table) => !live.has(table)).length
  }
  assert.ok(seen.crashed > SEEDS / 5 && seen.split === SEEDS, JSON.stringify(seen))
  assert.equal(seen.left, 0)
})

test('the same seed takes the same course', async () => {
  const course = async (): Promise<string> => {
    using world = new SimulatedWorld(RANKS, 3, rough, [0], undefined, HOME)
    const maps = await openSmallTables(world, BUCKETS)
    await playThroughACrash(world, 3, (rank) => [fill(maps[rank]!, 1000 * rank, GROWN)], { afterNs: 200_000 })
    return world.cluster.traceHash
  }
  assert.equal(await course(), await course())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import type { GroupList, ListOptions } from '../../../../src/structures/index.ts'
import { FakeWorld } from '../fake-world.ts'
import { type ListKind, listKinds } from './list-histories.ts'

const HOME = 1024 * 1024
/** So small that they are soon full: 8 places. */
const SEGMENT_BYTES = 128

/** A queue or a stack as each rank has it. Home is rank 0. */
async function opened<V>(
  world: FakeWorld,
  kind: ListKind,
  options: ListOptions<V> = {},
): Promise<readonly [GroupList<V>, GroupList<V>]> {
  const lists: readonly GroupList<V>[] = await world.play(
    Promise.all(world.structures.map((shared) => shared[kind]<V>('l', options))),
  )
  return lists as readonly [GroupList<V>, GroupList<V>]
}

async function drain<V>(world: FakeWorld, list: GroupList<V>): Promise<V[]> {
  const values: V[] = []
  for (let left = await world.play(list.length()); left > 0; left -= 1) values.push(await world.play(list.pop()))
  assert.equal(await world.play(list.tryPop()), undefined)
  return values
}

function inOrder<T>(kind: ListKind, values: readonly T[]): T[] {
  return kind === 'queue' ? [...values] : [...values].reverse()
}

for (const kind of listKinds) {
  test(`a ${kind} gives back what came, in its order, to whoever asks, whatever the values`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0], SEGMENT_BYTES)
    const [here, there] = await opened<unknown>(world, kind)
    assert.deepEqual([await world.play(here.tryPop()), await world.play(there.length())], [undefined, 0])
    const values = [undefined, null, 0, 'ü'.repeat(500), { a: [1, new Date(0)] }, new Uint8Array(5000).fill(7)]
    for (const [at, value] of values.entries()) await world.play((at % 2 === 0 ? here : there).push(value))
    assert.deepEqual([await world.play(here.length()), await world.play(there.length())], [6, 6])
    assert.deepEqual(await drain(world, there), inOrder(kind, values))
    for (let value = 0; value < 60; value += 1) await world.play(there.push(value))
    assert.equal(await world.play(here.length()), 60)
    assert.deepEqual(
      await drain(world, here),
      inOrder(
        kind,
        Array.from({ length: 60 }, (_, at) => at),
      ),
    )
  })

  test(`what one rank pushes at once comes onto a ${kind} in the order in which it began`, async () => {
    const world = new FakeWorld(2, 3, HOME, [0], SEGMENT_BYTES)
    const [here, there] = await opened<number>(world, kind)
    const values = Array.from({ length: 30 }, (_, at) => at)
    await world.play(Promise.all(values.map((value) => here.push(value))))
    const popped = await world.play(Promise.all(values.map(() => there.pop())))
    assert.deepEqual(popped, inOrder(kind, values))
  })

  test(`the bound of a ${kind} is exact; who pushes waits for room, who pops for values, until told otherwise`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0], SEGMENT_BYTES)
    const [here, there] = await opened<number>(world, kind, { capacity: 3, codec: number })
    for (let round = 0; round < 10; round += 1) {
      for (const value of [1, 2, 3]) assert.equal(await world.play(here.tryPush(value)), true)
      assert.deepEqual([await world.play(there.tryPush(4)), await world.play(here.length())], [false, 3])
      const pushing = there.push(4)
      assert.equal(await world.play(here.pop()), kind === 'queue' ? 1 : 3)
      await world.play(pushing)
      assert.deepEqual((await drain(world, there)).sort(), kind === 'queue' ? [2, 3, 4] : [1, 2, 4])
      const popping = here.pop()
      await world.play(there.push(9))
      assert.equal(await world.play(popping), 9)
    }
    const abort = new AbortController()
    const inVain = here.pop({ signal: abort.signal })
    abort.abort(new Error('enough'))
    await assert.rejects(world.play(inVain), /enough/)
    await assert.rejects(world.play(here.tryPush(1, { signal: abort.signal })), /enough/)
  })

  test(`a ${kind} refuses what is too large, other options, and a group that is closed`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0])
    const [here] = await opened<unknown>(world, kind, { valueBytesMax: 100 })
    await assert.rejects(world.play(here.push(new Uint8Array(200))), { code: 'ERR_AETHER_VALUE_TOO_LARGE' })
    const [, shared] = world.structures as [unknown, FakeWorld['structures'][number]]
    await assert.rejects(world.play(shared[kind]('l', { capacity: 4 })), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
    await assert.rejects(world.play(shared[kind]('l', { codec: number })), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
    await assert.rejects(world.play(shared.map('l')), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
    for (const capacity of [-1, 0.5, 2 ** 27])
      await assert.rejects(world.play(shared[kind]('other', { capacity })), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    const valueBytesMax = 61 * 1024
    await assert.rejects(world.play(shared[kind]('other', { valueBytesMax })), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await world.play(shared.close())
    await assert.rejects(world.play(shared[kind]('other')), { code: 'ERR_AETHER_CLOSED' })
  })

  test(`a push onto a ${kind} is one round trip or a few, a pop three at most`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0])
    const lists = await opened<number>(world, kind, { codec: number })
    const trips = async (rank: number, calls: number, call: (list: GroupList<number>) => Promise<unknown>) => {
      const before = world.ranks[rank]!.roundTrips
      for (let count = 0; count < calls; count += 1) await world.play(call(lists[rank as 0 | 1]))
      return world.ranks[rank]!.roundTrips - before
    }
    const push = (list: GroupList<number>): Promise<boolean> => list.tryPush(1)
    const pop = (list: GroupList<number>): Promise<number | undefined> => list.tryPop()
    // The first ones find the ends, and memory.
    for (const rank of [0, 1]) await trips(rank, 20, push)
    for (const rank of [0, 1]) await trips(rank, 20, pop)
    assert.ok((await trips(0, 1, push)) <= 3)
    // Now and then the ends' words are moved, which nobody waits for.
    assert.ok((await trips(0, 10, push)) <= 11)
    assert.ok((await trips(0, 1, pop)) <= 3)
    assert.ok((await trips(0, 10, pop)) <= 12)
    assert.equal(await trips(0, 1, pop), 1)
    for (let round = 0; round < 10; round += 1) {
      // In turns, so that what a rank knows is old.
      assert.ok((await trips(round % 2, 1, push)) <= 3)
      assert.ok((await trips((round + 1) % 2, 1, pop)) <= 4)
    }
  })

  test(`what went through a ${kind} leaves its memory, whoever pushed it`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0], SEGMENT_BYTES)
    const lists = await opened<Uint8Array>(world, kind)
    const value = new Uint8Array(3000)
    // Three times what the home has.
    for (let round = 0; round < 100; round += 1) {
      const list = lists[(round % 2) as 0 | 1]
      for (let call = 0; call < 10; call += 1) await world.play(list.push(value))
      for (let call = 0; call < 10; call += 1) await world.play(lists[0].pop())
    }
    const { blocks } = await world.play(takeCensus(new HomeStructures(world.ranks[0]!, 0).on('a census')))
    // The name, and the segments that the ends are in.
    assert.ok(blocks.size <= 3, `${blocks.size}`)
    const full = async (): Promise<void> => {
      for (;;) await lists[1].push(value)
    }
    await assert.rejects(world.play(full()), { code: 'ERR_AETHER_HEAP_FULL' })
    const length = await world.play(lists[0].length())
    // Blocks of 3 or 4 KiB: 21 or 16 in each chunk of 64 KiB, and some chunks are for something else.
    assert.ok(length > 150, `${length}`)
    assert.equal((await drain(world, lists[0])).length, length)
    for (let call = 0; call < length; call += 1) assert.equal(await world.play(lists[1].tryPush(value)), true)
  })

  test(`what stays in a ${kind} while its ranks look again and again for memory is not touched`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0], SEGMENT_BYTES)
    const lists = await opened<number>(world, kind, { codec: number })
    const kept = Array.from({ length: 70 }, (_, at) => at)
    for (const value of kept) await world.play(lists[(value % 2) as 0 | 1].push(value))
    // Each rank looks after 256 blocks that it made. The values of a queue go round, those of a stack stay below.
    for (let round = 0; round < 700; round += 1) {
      const list = lists[(round % 2) as 0 | 1]
      if (kind === 'queue') await world.play(list.push(await world.play(list.pop())))
      else {
        await world.play(list.push(-1))
        assert.equal(await world.play(list.pop()), -1)
      }
    }
    const { blocks } = await world.play(takeCensus(new HomeStructures(world.ranks[0]!, 0).on('a census')))
    assert.ok(blocks.size >= 71 && blocks.size <= 71 + 12, `${blocks.size}`)
    assert.deepEqual(await drain(world, lists[0]), inOrder(kind, kept))
  })

  test(`a rank that is stopped between any two steps has pushed and popped or not, holds up nobody, and leaves nothing on a ${kind}`, async () => {
    const outcomes = new Set<string>()
    for (let steps = 0; steps < 60; steps += 1) {
      const world = new FakeWorld(3, steps + 1, HOME, [0], SEGMENT_BYTES)
      const [here, there] = await opened<number>(world, kind, { codec: number })
      // Some begin near the end of a segment.
      for (let value = 0; value < steps % 9; value += 1) {
        await world.play(here.push(0))
        await world.play(there.pop())
      }
      await world.play(here.push(100))
      let [pushed, popped] = [0, 0]
      world.ranks[1]!.stepsLeft = steps
      const act = async (): Promise<void> => {
        for (; pushed < 3; pushed += 1) await there.push(pushed)
        for (; popped < 2; popped += 1) await there.pop()
      }
      void act()
      await world.play(world.ranks[0]!.sleep(1))
      world.stop(1)
      await world.play(world.ranks[0]!.sleep(3))
      const after = (pushes: number, pops: number): string => {
        const values = inOrder(kind, [100, 0, 1, 2].slice(0, pushes + 1))
        return values.slice(pops).join(' ')
      }
      // What was begun last took effect or did not.
      const allowed = [after(pushed, popped), pushed < 3 ? after(pushed + 1, 0) : after(3, popped + 1)]
      const found = (await drain(world, here)).join(' ')
      assert.ok(allowed.includes(found), `${steps}: ${found}, ${pushed} ${popped}`)
      outcomes.add(found)
      await world.play(here.push(7))
      assert.equal(await world.play(here.pop()), 7)
      await assertNothingLeft(world, steps)
    }
    assert.ok(outcomes.size >= 3, [...outcomes].join(', '))
  })

  test(`a ${kind} whose home is lost says so to those who wait`, async () => {
    const world = new FakeWorld(2, 1, HOME, [1])
    const [here] = await opened<number>(world, kind)
    const waiting = world.play(here.pop())
    world.stop(1)
    const lost = { code: 'ERR_AETHER_HOME_LOST', rank: 1, structure: `${kind} 'l'` }
    await assert.rejects(waiting, lost)
    await assert.rejects(world.play(here.push(1)), lost)
  })
}

test('a queue is iterated as its values come', async () => {
  const world = new FakeWorld(2, 1, HOME, [0])
  const queue = await world.play(world.structures[1]!.queue<number | undefined>('q'))
  for (const value of [1, undefined, 3]) await world.play(queue.push(value))
  const seen: (number | undefined)[] = []
  const iterate = async (): Promise<void> => {
    for await (const value of queue) {
      seen.push(value)
      if (seen.length === 3) break
    }
  }
  await world.play(iterate())
  assert.deepEqual(seen, [1, undefined, 3])
})

/** Nothing belongs to the rank that was stopped, and nothing is there but the name and what an empty list needs. */
async function assertNothingLeft(world: FakeWorld, steps: number): Promise<void> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const { blocks } = await world.play(takeCensus(home.on('a census')))
  assert.ok(blocks.size <= 3, `${steps}: ${blocks.size}`)
  const taken = await world.play(home.pool.chunks.taken())
  assert.deepEqual(
    taken.filter(({ owner }) => owner === 1),
    [],
    `${steps}`,
  )
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../src/codecs/index.ts'
import { QueueCore } from '../../src/structures/list/queue-core.ts'
import { StackCore } from '../../src/structures/list/stack-core.ts'
import { LIST_BODY_BYTES, LIST_WORDS_OFFSET, type ListCore } from '../../src/structures/list/value-list.ts'
import { ValueReader } from '../../src/structures/values/value-reader.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

useRuntimeDirectory()

const soon = () => ({ signal: AbortSignal.timeout(30_000) })
const kinds = ['queue', 'stack'] as const
/** A queue always has a node. */
const NODE_BYTES = { queue: 64, stack: 0 }

function coreOf(kind: 'queue' | 'stack', { heap, directory }: Inhabitant, capacity: number = 0): Popper {
  const { offset } = directory.open({ kind, name: kind, bodyBytes: LIST_BODY_BYTES, parameters: [] })
  const body = offset + LIST_WORDS_OFFSET
  const core = kind === 'queue' ? new QueueCore(heap, body, { capacity }) : new StackCore(heap, body, { capacity })
  return { core, reader: new ValueReader(heap.memory, number) }
}

function push({ core }: Popper, value: number): boolean {
  return core.push(number.encode(value))
}

interface Popper {
  readonly core: ListCore
  readonly reader: ValueReader<number>
}

function pop({ core, reader }: Popper): number | undefined {
  return core.pop(reader) ? reader.decode() : undefined
}

function drain(popper: Popper): number[] {
  const values: number[] = []
  for (let value = pop(popper); value !== undefined; value = pop(popper)) values.push(value)
  return values
}

test('a queue gives back what came first, a stack what came last, to whoever asks', () => {
  for (const kind of kinds) {
    const town = new Town()
    const [a, b] = [coreOf(kind, town.settle()), coreOf(kind, town.settle())]
    assert.deepEqual([pop(a), a.core.length()], [undefined, 0])
    for (let value = 0; value < 5; value += 1) push(value % 2 === 0 ? a : b, value)
    assert.deepEqual([a.core.length(), b.core.length()], [5, 5])
    assert.deepEqual(drain(b), kind === 'queue' ? [0, 1, 2, 3, 4] : [4, 3, 2, 1, 0])
    assert.equal(a.core.length(), 0)
    push(b, 7)
    assert.deepEqual(drain(a), [7])
  }
})

test('a bound is exact, and memory is used again', () => {
  for (const kind of kinds) {
    const list = coreOf(kind, new Town().settle(), 3)
    for (let round = 0; round < 10_000; round += 1) {
      for (let value = 0; value < 3; value += 1) assert.equal(push(list, value), true)
      assert.deepEqual([push(list, 3), list.core.length()], [false, 3])
      assert.equal(drain(list).length, 3)
    }
  }
})

test('a length is of one moment, whatever others do between any two accesses', () => {
  for (const kind of kinds) {
    for (let accesses = 1, done = false; !done; accesses += 1) {
      const town = new Town()
      const here = town.settle()
      const [core, other] = [coreOf(kind, here, 3), coreOf(kind, town.settle(), 3)]
      for (let value = 0; value < 3; value += 1) push(other, value)
      let left = accesses
      here.memory.before = () => {
        left -= 1
        // None of this is seen in part: it happens between two accesses.
        if (left === 0) for (const value of drain(other)) push(other, value)
      }
      assert.equal(core.core.length(), 3, `${kind}, before access ${accesses}`)
      done = left > 0
    }
  }
})

for (const kind of kinds) {
  test(`killed at any access while it uses a ${kind}, each value is there or not, and nothing is lost`, () => {
    // The thousands in the middle are the blocks of a new slab, one like the other.
    for (let calls = 0, done = false; !done; calls += calls > 60 && calls < 2100 ? 50 : 1) {
      const town = new Town()
      const survivor = town.settle()
      const list = coreOf(kind, survivor)
      push(list, 100)
      const victim = town.settle()
      let [pushed, popped] = [0, 0]
      done = victim.killedAfter(calls, () => {
        const theirs = coreOf(kind, victim)
        for (; pushed < 3; pushed += 1) push(theirs, pushed)
        for (; popped < 2; popped += 1) assert.notEqual(pop(theirs), undefined)
      })
      town.bury(victim)
      settleMemory(survivor.heap)
      // What was begun last took effect or did not.
      const after = (pushes: number, pops: number) => {
        const values = [100, 0, 1, 2].slice(0, pushes + 1)
        return String(kind === 'queue' ? values.slice(pops) : values.reverse().slice(pops))
      }
      const allowed = [after(pushed, popped), pushed < 3 ? after(pushed + 1, 0) : after(3, popped + 1)]
      push(list, 9)
      const found = String(drain(list).filter((value) => value !== 9))
      assert.ok(allowed.includes(found), `after ${calls} accesses: ${found}`)
      settleMemory(survivor.heap)
      assert.equal(survivor.heap.usage().usedBytes, 384 + NODE_BYTES[kind], `after ${calls} accesses`)
    }
  })
}

test('who pops waits for values, who pushes for room, by event loop and by thread', async () => {
  await using shared = await Shared.open()
  const other = await shared.start()
  for (const kind of kinds) {
    const here = await shared.structures[kind]<number>(`a ${kind}`, { capacity: 50 })
    const there = other.call<number[]>('popMany', kind, here.name, 3)
    for (const value of [1, 2, 3]) await here.push(value, soon())
    assert.deepEqual((await there).sort(), [1, 2, 3])
    const waiting = here.pop(soon())
    assert.equal(await here.tryPush(4), true)
    assert.equal(await waiting, 4)
    assert.equal(await here.tryPop(), undefined)
    assert.throws(() => here.popSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
    for (let value = 0; value < 50; value += 1) here.pushSync(value)
    assert.deepEqual([here.tryPushSync(50), await here.length()], [false, 50])
    assert.throws(() => here.pushSync(50, { timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
    const pushing = here.push(50, soon())
    await other.call('popMany', kind, here.name, 1)
    await pushing
    assert.equal(here.lengthSync(), 50)
  }
})

test('of producers that are killed every acknowledged value comes, once, in order', async () => {
  await using shared = await Shared.open()
  const queue = await shared.structures.queue<number>('q', { capacity: 50 })
  for (let round = 1; round <= 2; round += 1) {
    const firsts = [round * 2e6, round * 2e6 + 1e6]
    const victims = [await shared.start(), await shared.start()]
    for (const [index, victim] of victims.entries()) await victim.call('pushForEver', 'queue', 'q', firsts[index])
    const values: number[] = []
    while (values.length < 300) values.push(await queue.pop(soon()))
    for (const victim of victims) await victim.kill()
    for (let value = queue.tryPopSync(); value !== undefined; value = queue.tryPopSync()) values.push(value)
    for (const first of firsts) {
      const mine = values.filter((value) => value >= first && value < first + 1e6)
      const inOrder = Array.from({ length: mine.length }, (_, index) => first + index)
      assert.deepEqual(mine, inOrder)
      const acknowledged = (await shared.structures.counter(`pushed ${first}`)).getSync()
      assert.ok(mine.length === acknowledged || mine.length === acknowledged + 1, `${mine.length} of ${acknowledged}`)
    }
  }
})

test('a queue is iterated as its values come', async () => {
  await using shared = await Shared.open()
  const queue = await shared.structures.queue<number | undefined>('q')
  for (const value of [1, undefined, 3]) await queue.push(value)
  const seen: (number | undefined)[] = []
  for await (const value of queue) {
    seen.push(value)
    if (seen.length === 3) break
  }
  assert.deepEqual(seen, [1, undefined, 3])
  const stop = new AbortController()
  const next = queue.values(stop).next()
  stop.abort(new Error('enough'))
  await assert.rejects(next, /enough/)
})

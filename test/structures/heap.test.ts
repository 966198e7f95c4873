import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Heap, offsetOf } from '../../src/structures/heap/heap.ts'
import { SLAB_BYTES } from '../../src/structures/heap/layout.ts'
import { Reach } from '../../src/structures/heap/reach.ts'
import { fixed } from '../../src/structures/parameter.ts'
import { settleMemory, Town } from './town.ts'

/** Take a block and put its reference into a word, in place of the one that is there, which is retired. */
function replaceBlock(heap: Heap, lengthBytes: number, word: number): void {
  const { memory, intent } = heap
  intent.begin(word, Reach.Cell)
  const { reference } = heap.allocate(lengthBytes)
  memory.poke(offsetOf(reference), 0)
  heap.epochs.enter()
  const old = memory.load(word)
  const oldState = old === 0 ? 0 : heap.blocks.state(old)
  if (old !== 0) memory.store(offsetOf(old), 1)
  intent.arm(old, oldState, 0, 0, 0)
  memory.compareExchange(word, old, reference)
  if (old !== 0) heap.epochs.retire(old, oldState)
  intent.end()
  heap.epochs.exit()
}

/** How many blocks of a whole slab can be taken: all, when nothing is lost. */
function slabsToBeHad(heap: Heap): number {
  for (let count = 0; ; count += 1) {
    try {
      heap.intent.begin(0, Reach.Cell)
      heap.allocate(SLAB_BYTES * 2 - 1, true)
    } catch {
      return count * 2
    }
  }
}

test('blocks of every size are apart from each other, and can be had again', () => {
  const town = new Town()
  const { heap } = town.settle()
  for (let round = 0; round < 3; round += 1) {
    const taken: { readonly from: number; readonly to: number; readonly reference: number }[] = []
    for (const lengthBytes of [1, 64, 65, 200, 1000, 5000, 20_000, 65_536, 65_537, 64, 1]) {
      heap.intent.begin(0, Reach.Cell)
      const { reference } = heap.allocate(lengthBytes)
      const from = offsetOf(reference)
      taken.push({ from, to: from + heap.blocks.lengthOf(reference), reference })
      assert.ok(heap.blocks.lengthOf(reference) >= lengthBytes)
    }
    taken.sort((a, b) => a.from - b.from)
    for (const [index, { to }] of taken.entries()) assert.ok(to <= (taken[index + 1]?.from ?? town.bytes.length))
    for (const { reference } of taken) heap.release(reference)
    assert.equal(heap.usage().usedBytes, 0)
  }
})

test('when there is no memory the error says so, and what was taken can be given back for another size', () => {
  const { heap } = new Town().settle()
  const taken: number[] = []
  const fill = (lengthBytes: number) => {
    for (;;) {
      heap.intent.begin(0, Reach.Cell)
      taken.push(heap.allocate(lengthBytes).reference)
    }
  }
  assert.throws(() => fill(100), { code: 'ERR_AETHER_HEAP_FULL', wantedBytes: 100 })
  const small = taken.length
  for (const reference of taken.splice(0)) heap.release(reference)
  assert.throws(() => fill(10_000), { code: 'ERR_AETHER_HEAP_FULL' })
  assert.ok(taken.length > 50 && small > taken.length)
  for (const reference of taken) heap.release(reference)
  assert.equal(heap.usage().usedBytes, 0)
})

test('a retired block is used again only when everybody who was inside has left', () => {
  const town = new Town()
  const reader = town.settle()
  const writer = town.settle()
  writer.heap.intent.begin(0, Reach.Cell)
  const { reference, state } = writer.heap.allocate(64)
  reader.heap.epochs.enter()
  assert.ok(writer.heap.epochs.retire(reference, state))
  assert.ok(!writer.heap.epochs.retire(reference, state), 'only one retires a block')
  writer.heap.collect()
  assert.equal(writer.heap.epochs.waiting, 1)
  reader.heap.epochs.exit()
  writer.heap.collect()
  assert.equal(writer.heap.epochs.waiting, 0)
  assert.equal(writer.heap.usage().usedBytes, 0)
})

test('a dead reader is not waited for; one that lives is named when memory runs out for its sake', () => {
  const town = new Town()
  const reader = town.settle()
  const writer = town.settle()
  reader.heap.epochs.enter()
  const churn = () => {
    for (let round = 0; round < 100; round += 1) replaceBlock(writer.heap, 30_000, 0x11000)
  }
  assert.throws(churn, /some of it waits for the member in slot 0, which is inside an operation/)
  town.bury(reader)
  churn()
})

for (const lengthBytes of [64, 700, 30_000, 65_536, 150_000]) {
  test(`killed at any access while it replaces a block of ${lengthBytes} bytes, a participant leaves nothing behind`, () => {
    // Beyond the first hundred are mostly the thousand blocks of a new slab, one like the other.
    for (let calls = 0, done = false; !done; calls += calls < 100 ? 1 : 11) {
      const town = new Town()
      const survivor = town.settle()
      replaceBlock(survivor.heap, lengthBytes, 0x11000)
      const victim = town.settle(false)
      done = victim.killedAfter(calls, () => {
        victim.heap.join()
        replaceBlock(victim.heap, lengthBytes, 0x11000)
        replaceBlock(victim.heap, lengthBytes, 0x11000)
      })
      town.bury(victim)
      // The next in its slot recovers it, or the survivor does.
      const heir = calls % 2 === 0 ? town.settle() : survivor
      settleMemory(heir.heap)
      settleMemory(survivor.heap)
      assert.equal(
        survivor.heap.usage().usedBytes,
        survivor.heap.blocks.lengthOf(survivor.memory.load(0x11000)),
        `${calls}`,
      )
      assert.ok(slabsToBeHad(heir.heap) >= town.slabs - 4, `after ${calls} accesses`)
    }
  })
}

test('one that is killed while it recovers another is recovered with it', () => {
  for (let calls = 0, done = false; !done; calls += 1) {
    const town = new Town()
    const survivor = town.settle()
    replaceBlock(survivor.heap, 64, 0x11000)
    const victim = town.settle()
    // Somewhere in the middle of the compare-and-swap that takes effect.
    victim.killedAfter(38, () => replaceBlock(victim.heap, 64, 0x11000))
    const second = town.settle()
    town.bury(victim)
    done = second.killedAfter(calls, () => second.heap.recover())
    town.bury(second)
    settleMemory(survivor.heap)
    assert.equal(survivor.heap.usage().usedBytes, 64, `after ${calls} accesses`)
    const heirs = [town.settle(), town.settle()]
    for (const { heap } of heirs) replaceBlock(heap, 64, 0x11000)
  }
})

test('a name is one structure, whoever makes it and is killed meanwhile', () => {
  for (let calls = 0, done = false; !done; calls += calls < 100 ? 1 : 11) {
    const town = new Town()
    const survivor = town.settle()
    const request = { kind: 'counter', name: 'hits', bodyBytes: 64, parameters: [] } as const
    const victim = town.settle()
    done = victim.killedAfter(calls, () => victim.directory.open(request))
    town.bury(victim)
    const { reference } = survivor.directory.open(request)
    settleMemory(survivor.heap)
    assert.equal(survivor.heap.usage().usedBytes, 192)
    assert.equal(town.settle().directory.open(request).reference, reference)
    assert.deepEqual(survivor.directory.list(), [{ name: 'hits', kind: 'counter' }])
  }
})

test('a name of another kind or of other parameters is refused', () => {
  const { directory } = new Town().settle()
  directory.open({ kind: 'semaphore', name: 's', bodyBytes: 64, parameters: [fixed('permits', 3)] })
  const asCounter = () => directory.open({ kind: 'counter', name: 's', bodyBytes: 64, parameters: [] })
  assert.throws(asCounter, { code: 'ERR_AETHER_STRUCTURE_MISMATCH', message: /is a semaphore, not a counter/ })
  const withFour = () =>
    directory.open({ kind: 'semaphore', name: 's', bodyBytes: 64, parameters: [fixed('permits', 4)] })
  const message = "'s' was made with permits 3, opened with permits 4; use another name, or the same options"
  assert.throws(withFour, { code: 'ERR_AETHER_STRUCTURE_MISMATCH', message })
  for (const name of ['', 'x'.repeat(65)]) {
    const open = () => directory.open({ kind: 'counter', name, bodyBytes: 64, parameters: [] })
    assert.throws(open, { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  }
})

test('memory that is something else is refused', () => {
  const town = new Town()
  town.bytes[0] = 1
  assert.throws(() => town.settle(), { code: 'ERR_AETHER_STRUCTURES_VERSION' })
})

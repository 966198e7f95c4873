import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BlockAllocator } from '../../../src/adapters/bullmq/store/block-allocator.ts'
import { OrderedSets } from '../../../src/adapters/bullmq/store/ordered-sets.ts'
import { TABLE_BYTES, Tables } from '../../../src/adapters/bullmq/store/tables.ts'
import { Texts } from '../../../src/adapters/bullmq/store/texts.ts'
import { TransactionTooLargeError, UndoMemory } from '../../../src/adapters/bullmq/store/undo-memory.ts'

const SIZE = 2 ** 21
const VALUE_BYTES = 8

/** A process dies before its n-th store to the log. */
class Killed extends Error {}

class MortalMemory extends UndoMemory {
  leftStores = Number.POSITIVE_INFINITY

  override keep(at: number): void {
    if (this.leftStores <= 0) throw new Killed()
    this.leftStores -= 1
    super.keep(at)
  }
}

/** What a process has of the memory: nothing that a death would take along but its own objects. */
class Process {
  readonly memory: MortalMemory
  readonly allocator: BlockAllocator
  readonly texts: Texts
  readonly tables: Tables
  readonly sets: OrderedSets

  constructor(bytes: Uint8Array) {
    this.memory = new MortalMemory(bytes)
    this.allocator = new BlockAllocator(this.memory)
    this.texts = new Texts(this.memory, this.allocator)
    this.tables = new Tables(this.memory, this.allocator, this.texts)
    const nameOf = (item: number) => this.tables.key(item, VALUE_BYTES)
    this.sets = new OrderedSets(this.memory, this.allocator, (a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  }

  commit(): void {
    this.allocator.settle()
    this.memory.commit()
  }
}

/** A table, and a set of its entries in the order of their numbers. */
class World {
  process: Process
  readonly bytes = new Uint8Array(new SharedArrayBuffer(SIZE))
  readonly table: number
  readonly set: number

  constructor() {
    this.process = new Process(this.bytes)
    this.process.allocator.format()
    this.table = this.process.allocator.allocate(TABLE_BYTES)
    this.process.memory.freshZeros(this.table, TABLE_BYTES)
    this.set = this.process.allocator.allocate(4)
    this.process.memory.freshWord(this.set, 0)
    this.process.commit()
  }

  put(key: string, number: number): void {
    const { tables, texts, sets, memory } = this.process
    let entry = tables.find(this.table, key, VALUE_BYTES)
    if (entry === 0) entry = tables.add(this.table, key, VALUE_BYTES)
    else sets.remove(this.set, memory.word(entry + 4))
    texts.replace(entry, `${number}`.repeat(number % 40))
    memory.setWord(entry + 4, sets.insert(this.set, entry, number))
  }

  delete(key: string): void {
    const { tables, texts, sets, memory } = this.process
    const entry = tables.find(this.table, key, VALUE_BYTES)
    if (entry === 0) return
    sets.remove(this.set, memory.word(entry + 4))
    texts.replace(entry, undefined)
    tables.remove(this.table, entry)
  }

  /** Keys in the order in which they came, and by number. */
  contents(): unknown {
    const { tables, texts, sets } = this.process
    const entries: unknown[] = []
    for (let entry = tables.first(this.table); entry !== 0; entry = tables.next(entry)) {
      const key = tables.key(entry, VALUE_BYTES)
      assert.equal(tables.find(this.table, key, VALUE_BYTES), entry)
      entries.push([key, texts.at(entry)])
    }
    assert.equal(entries.length, tables.count(this.table))
    const order: unknown[] = []
    for (let node = sets.first(this.set); node !== 0; node = sets.next(node)) {
      assert.equal(sets.at(this.set, order.length), node)
      order.push([tables.key(sets.item(node), VALUE_BYTES), sets.score(node)])
    }
    assert.equal(sets.count(this.set), order.length)
    return { entries, order, usedBytes: this.process.allocator.usedBytes }
  }

  /** The process is gone; another one comes. */
  replaceProcess(): void {
    this.process = new Process(this.bytes)
    if (this.process.memory.changed) this.process.memory.undo()
  }
}

const key = fc.oneof(fc.integer({ min: 0, max: 30 }).map(String), fc.constantFrom('ä', '€', '😀', ''))
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ put: key, number: fc.integer({ min: 0, max: 50 }) }) },
  fc.record({ delete: key }),
)

function apply(world: World, each: object): void {
  const { put, number, delete: gone } = each as { put?: string; number?: number; delete?: string }
  if (put !== undefined) world.put(put, number ?? 0)
  else world.delete(gone ?? '')
}

test('a transaction whose process dies before any of its stores was never there', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      (before, last) => {
        const world = new World()
        for (const each of before) {
          apply(world, each)
          world.process.commit()
        }
        const expected = world.contents()
        for (let stores = 0; ; stores += 1) {
          world.process.memory.leftStores = stores
          try {
            for (const each of last) apply(world, each)
            world.process.allocator.settle()
            break
          } catch (error) {
            assert.ok(error instanceof Killed)
          }
          world.replaceProcess()
          assert.deepEqual(world.contents(), expected)
        }
        world.process.memory.commit()
        const after = new World()
        for (const each of [...before, ...last]) {
          apply(after, each)
          after.process.commit()
        }
        const { entries, order } = world.contents() as { entries: unknown; order: unknown }
        const { entries: wanted, order: wantedOrder } = after.contents() as { entries: unknown; order: unknown }
        assert.deepEqual([entries, order], [wanted, wantedOrder])
      },
    ),
    { numRuns: 25, includeErrorInReport: true },
  )
})

test('tables and sets hold what a Map and a sorted array hold, and give all memory back', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 50, maxLength: 400 }), (changes) => {
      const world = new World()
      const { usedBytes } = world.contents() as { usedBytes: number }
      const map = new Map<string, number>()
      for (const each of changes) {
        const { put, number = 0, delete: gone = '' } = each as { put?: string; number?: number; delete?: string }
        if (put === undefined) map.delete(gone)
        else map.set(put, number)
        apply(world, each)
        world.process.commit()
      }
      const { entries, order } = world.contents() as { entries: [string, string | undefined][]; order: unknown }
      const wanted = [...map].map(([name, number]) => [name, `${number}`.repeat(number % 40)])
      assert.deepEqual(entries.map(([name, text]) => [name, text ?? '']).sort(), wanted.sort())
      const sorted = [...map].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
      assert.deepEqual(order, sorted)
      for (const [name] of map) world.delete(name)
      world.process.commit()
      assert.equal((world.contents() as { usedBytes: number }).usedBytes, usedBytes)
    }),
    { numRuns: 25, includeErrorInReport: true },
  )
})

test('many entries: places, counts below, and the memory of all comes back', () => {
  const world = new World()
  const { usedBytes } = world.contents() as { usedBytes: number }
  for (let at = 0; at < 3000; at += 1) {
    world.put(`key ${at}`, (at * 7919) % 3000)
    world.process.commit()
  }
  const { sets, tables } = world.process
  assert.equal(sets.countBelow(world.set, 1234), 1234)
  assert.equal(sets.score(sets.at(world.set, 2999)), 2999)
  assert.equal(tables.count(world.table), 3000)
  world.contents()
  for (let at = 0; at < 3000; at += 1) {
    world.delete(`key ${at}`)
    world.process.commit()
  }
  assert.equal((world.contents() as { usedBytes: number }).usedBytes, usedBytes)
})

test('a transaction that is too large for the undo log, or for the memory, says so and changes nothing', () => {
  const world = new World()
  const expected = world.contents()
  const tooMuch = () => {
    for (let at = 0; ; at += 1) world.put(`key ${at}`, at)
  }
  assert.throws(tooMuch, TransactionTooLargeError)
  world.process.memory.undo()
  world.process.allocator.forget()
  assert.deepEqual(world.contents(), expected)
  assert.throws(() => world.process.allocator.allocate(SIZE), { code: 'ERR_AETHER_HEAP_FULL' })
  assert.deepEqual(world.contents(), expected)
})

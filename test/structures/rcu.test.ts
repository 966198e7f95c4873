import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../src/codecs/index.ts'
import { bytes } from '../../src/structures/index.ts'
import { CELL_BODY_BYTES } from '../../src/structures/rcu/cell-core.ts'
import { Rcu } from '../../src/structures/rcu/rcu.ts'
import { RcuCell } from '../../src/structures/rcu/rcu-cell.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { type AnyReader, playCell, playOverlaps, playPeriods } from './rcu-suite.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

useRuntimeDirectory()

/** What a cell takes: its block in the directory, and its version. */
const CELL_BYTES = 192 + 64
const ELEMENTS = 8

interface Reader {
  readonly rcu: Rcu
  readonly cell: RcuCell<number>
}

function readerOf({ heap, directory }: Inhabitant): Reader {
  const { offset } = directory.open({ kind: 'rcu cell', name: 'cell', bodyBytes: CELL_BODY_BYTES, parameters: [] })
  return { rcu: new Rcu(heap), cell: new RcuCell('cell', heap, offset, { codec: number, valueBytesMax: 8 }) }
}

function presentOf({ rcu, cell }: Reader): number | undefined {
  using _section = rcu.readLock()
  return rcu.dereference(cell)
}

/** For what is shared with cells between machines. */
function anyReaderOf(reader: Reader): AnyReader {
  const { rcu, cell } = reader
  return {
    readLock: () => rcu.readLock(),
    present: async () => presentOf(reader),
    assign: (value) => rcu.assign(cell, value),
    update: (change) => rcu.update(cell, change),
    moment: () => {
      const state = rcu.getState()
      return async () => rcu.pollState(state)
    },
  }
}

test('a cell, its versions and grace periods', async () => {
  const town = new Town()
  const [a, b, c] = [1, 2, 3].map(() => anyReaderOf(readerOf(town.settle()))) as [AnyReader, AnyReader, AnyReader]
  await playCell(a, b)
  await playPeriods(a, [b, c])
  await playOverlaps(a, b)
})

test('the change of an update is called again where another was faster', () => {
  const town = new Town()
  const [a, b] = [readerOf(town.settle()), readerOf(town.settle())]
  a.rcu.assignSync(a.cell, 8)
  let calls = 0
  const updated = a.rcu.updateSync(a.cell, (value = 0) => {
    calls += 1
    if (calls === 1) b.rcu.assignSync(b.cell, 20)
    return value + 1
  })
  assert.deepEqual([updated, calls, presentOf(b)], [21, 2, 21])
})

test('what is read outside of a section is refused, and so is waiting for oneself', () => {
  const { rcu, cell } = readerOf(new Town().settle())
  for (const read of [() => rcu.dereference(cell), () => rcu.dereferenceBytes(cell)])
    assert.throws(read, { code: 'ERR_AETHER_READ_SECTION' })
  const section = rcu.readLock()
  assert.throws(() => rcu.synchronizeSync(), { code: 'ERR_AETHER_READ_SECTION' })
  section.readUnlock()
  section.readUnlock()
  rcu.synchronizeSync()
})

test('who waits in vain for readers is told', () => {
  const town = new Town()
  const writer = readerOf(town.settle())
  const section = readerOf(town.settle()).rcu.readLock()
  assert.throws(() => writer.rcu.synchronizeSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  section.readUnlock()
  writer.rcu.synchronizeSync({ timeoutMs: 5000 })
})

test('what a section has seen stays while it lasts, also where another of the same reader ends, and is poisoned after', () => {
  const town = new Town()
  const writer = town.settle()
  writer.heap.poisonFreed()
  const { rcu, cell } = readerOf(writer)
  const reader = readerOf(town.settle())
  rcu.assignSync(cell, 1)
  const first = reader.rcu.readLock()
  settleMemory(writer.heap)
  const second = reader.rcu.readLock()
  const seen = reader.rcu.dereferenceBytes(reader.cell)!
  for (let value = 2; value < 500; value += 1) rcu.assignSync(cell, value)
  first.readUnlock()
  for (let value = 500; value < 1000; value += 1) rcu.assignSync(cell, value)
  settleMemory(writer.heap)
  assert.deepEqual([...seen], [...number.encode(1)])
  second.readUnlock()
  settleMemory(writer.heap)
  assert.deepEqual([...seen], Array(8).fill(0xdb))
  assert.equal(writer.heap.usage().usedBytes, CELL_BYTES)
})

test('killed at any access while it reads or assigns, nobody is held up, a version is there or not, and nothing is lost', () => {
  // The thousands in the middle are the blocks of a new slab, one like the other.
  for (let calls = 0, done = false; !done; calls += calls > 60 && calls < 2100 ? 50 : 1) {
    const town = new Town()
    const survivor = town.settle()
    const ours = readerOf(survivor)
    ours.rcu.assignSync(ours.cell, 100)
    const victim = town.settle()
    let assigned = 0
    done = victim.killedAfter(calls, () => {
      const theirs = readerOf(victim)
      theirs.rcu.readLock()
      for (; assigned < 3; assigned += 1) theirs.rcu.assignSync(theirs.cell, assigned)
    })
    const state = ours.rcu.getState()
    town.bury(victim)
    assert.equal(ours.rcu.pollState(state), true)
    settleMemory(survivor.heap)
    const values = [100, 0, 1, 2]
    const found = presentOf(ours)
    assert.ok(found === values[assigned] || found === values[assigned + 1], `after ${calls} accesses: ${found}`)
    settleMemory(survivor.heap)
    assert.equal(survivor.heap.usage().usedBytes, CELL_BYTES, `after ${calls} accesses`)
  }
})

test('callbacks run after a grace period, in order; a barrier waits for those before it', async () => {
  await using shared = await Shared.open()
  const { rcu } = shared.structures
  const ran: string[] = []
  const section = rcu.readLock()
  rcu.call(() => ran.push('first'))
  rcu.call(() => ran.push('second'))
  const barrier = rcu.barrier().then(() => ran.push('barrier'))
  await assert.rejects(rcu.barrier({ signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' })
  await assert.rejects(rcu.synchronize({ signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' })
  assert.deepEqual(ran, [])
  const synchronized = rcu.synchronize()
  section.readUnlock()
  await Promise.all([barrier, synchronized])
  assert.deepEqual(ran, ['first', 'second', 'barrier'])
  const config = await shared.structures.cell<{ limit: number }>('config')
  await rcu.assign(config, { limit: 3 })
  {
    using _section = rcu.readLock()
    assert.equal(rcu.dereference(config), rcu.dereference(config), 'decoded once')
  }
  assert.deepEqual(await rcu.update(config, (old) => ({ limit: (old?.limit ?? 0) + 1 })), { limit: 4 })
  const held = rcu.readLock()
  const never = rcu.barrier()
  await shared.structures.close()
  await assert.rejects(never, { code: 'ERR_AETHER_CLOSED' })
  held.readUnlock()
})

/** Take elements out of the cell one after the other, and count for each how many grace periods have passed since. */
async function tortureWrite(shared: Shared, updates: number): Promise<void> {
  const { structures } = shared
  const { rcu } = structures
  const ages = await Promise.all(Array.from({ length: ELEMENTS }, (_, at) => structures.counter(`age ${at}`)))
  const [element, pattern] = [
    await structures.cell<number>('element'),
    await structures.cell<Uint8Array>('bytes', { codec: bytes }),
  ]
  for (let update = 1; update <= updates; update += 1) {
    const next = update % ELEMENTS
    ages[next]?.setSync(0)
    rcu.assignSync(element, next)
    for (let turn = 0; turn < 4; turn += 1) rcu.assignSync(pattern, new Uint8Array(200 + update).fill(update % 200))
    ages[(update - 1) % ELEMENTS]?.addSync()
    if (update % 3 === 0) rcu.synchronizeSync()
    else if (update % 3 === 1) await rcu.synchronize()
    else await rcu.barrier()
    // All that were out before are a grace period older.
    for (let out = 1; out < 4; out += 1) ages[(update - out + ELEMENTS) % ELEMENTS]?.addSync()
  }
}

test('torture: nobody sees an element two grace periods after it was taken out, nor memory that was freed; readers that are killed hold nobody up', async () => {
  await using shared = await Shared.open()
  await tortureWrite(shared, 1)
  const readers = [await shared.start(), await shared.start()]
  const victims = [await shared.start(), await shared.start()]
  for (const reader of readers) await reader.call('tortureRead')
  for (const victim of victims) {
    await victim.call('tortureRead')
    await tortureWrite(shared, 20)
    await victim.kill()
  }
  await tortureWrite(shared, 60)
  await (await shared.structures.flag('over')).raise()
  for (const reader of readers) {
    const { histogram, torn } = await reader.call<{ histogram: number[]; torn: number }>('tortured')
    assert.deepEqual([histogram[2], histogram[3], torn], [0, 0, 0], JSON.stringify(histogram))
    assert.ok(histogram[0]! > 0)
  }
})

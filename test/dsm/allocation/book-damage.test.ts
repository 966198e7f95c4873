/** The books of a region's allocations as a check reads them. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkStore } from '../../../src/adapters/index.ts'
import { bookDamage } from '../../../src/dsm/index.ts'
import { open } from '../../../src/public/index.ts'
import { checkDirectory } from '../../../src/saving/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-book-')))
after(() => rmSync(scratch, { recursive: true }))
const SIZE = 2 ** 20
const BOOK_BYTES = 2 ** 22
const EXTENTS = 0x4000000
const file = join(scratch, 'aether.arena')

/** Where the book is in the arena. */
function bookAt(arena: Buffer): number {
  const text = arena.indexOf('{"nextId":', EXTENTS)
  // The first text is in the second half, the one after it in the first.
  const at = arena.readInt32LE(text - 64) <= 1 && arena.indexOf('{"nextId":', text + 1) > 0 ? text - 64 : -1
  assert.ok(at > 0)
  return at
}

async function allocate(lengths: readonly number[]): Promise<void> {
  await using space = await open('books', { directory: scratch })
  await using region = await space.openRegion('taken', { size: SIZE })
  for (const [at, length] of lengths.entries()) {
    const allocation = await region.alloc(length, at % 3 === 0 ? { name: `part ${at}`, align: 64 } : {})
    if (at % 4 === 3) await allocation.free()
  }
}

test('each bit of what is in force counts, and what is not in force does not', async () => {
  await allocate([100, 4096, 30, 8, 777, 1, 9])
  const arena = readFileSync(file)
  const begin = bookAt(arena)
  const book = new Uint8Array(arena.subarray(begin, begin + BOOK_BYTES))
  const words = new Int32Array(book.buffer, 0, 16)
  const half = words[0]!
  const [length, textAt] = [words[1 + half]!, 64 + half * (BOOK_BYTES / 2 - 64)]
  assert.equal(bookDamage(book, SIZE), undefined)
  const turned = (byte: number, bit: number): string | undefined => {
    book[byte]! ^= 1 << bit
    const found = bookDamage(book, SIZE)
    book[byte]! ^= 1 << bit
    return found
  }
  for (let bit = 0; bit < 8; bit += 1) {
    for (let at = 0; at < length; at += 1) assert.ok(turned(textAt + at, bit), `byte ${at} of the text, bit ${bit}`)
    for (let at = 0; at < 4; at += 1) {
      assert.ok(turned(4 + half * 4 + at, bit), `its length, byte ${at}, bit ${bit}`)
      assert.ok(turned(12 + half * 4 + at, bit), `its checksum, byte ${at}, bit ${bit}`)
      if (at > 0 || bit > 0) assert.ok(turned(at, bit), `which half is in force, byte ${at}, bit ${bit}`)
    }
  }
  // A process that is killed leaves anything in the other half.
  book.fill(7, 64 + (1 - half) * (BOOK_BYTES / 2 - 64), 164 + (1 - half) * (BOOK_BYTES / 2 - 64))
  assert.equal(bookDamage(book, SIZE), undefined)
  // Those of earlier saves have no checksum.
  words[3 + half] = 0
  assert.equal(bookDamage(book, SIZE), undefined)
  assert.match(bookDamage(book, 1000)!, /the list of its allocations cannot be right/)
  book[textAt + length - 1] = 0x20
  assert.match(bookDamage(book, SIZE)!, /the list of its allocations cannot be right/)
})

test('a book in which nothing was written yet is whole', () => {
  assert.equal(bookDamage(new Uint8Array(BOOK_BYTES), SIZE), undefined)
})

test('a check of the directory names the region', async () => {
  const whole = await checkDirectory(scratch, checkStore)
  assert.deepEqual([whole.state, whole.damaged], ['good', []])
  const arena = readFileSync(file)
  const at = arena.indexOf('"lengthBytes":4096', EXTENTS)
  // Both halves: one of them is in force.
  for (const each of [at, arena.indexOf('"lengthBytes":4096', at + 1)]) arena[each + 17] = 0x37
  writeFileSync(file, arena)
  assert.deepEqual((await checkDirectory(scratch, checkStore)).damaged, [
    { region: 'taken', kind: 'allocations', reason: 'the list of its allocations was changed' },
  ])
})

test('a region that was deleted has no allocations in the books of one that has its name now', async () => {
  await using space = await open('renamed')
  await using other = await open('renamed')
  const old = await space.openRegion('r', { size: SIZE })
  const deleted = await other.openRegion('r')
  await deleted.delete()
  await deleted.close()
  await using now = await other.openRegion('r', { size: 65_536 })
  await now.alloc(1000)
  await assert.rejects(old.alloc(SIZE / 2), { code: 'ERR_AETHER_REGION_NOT_FOUND', region: 'r' })
  assert.equal((await now.alloc(1000)).offsetBytes, 1000)
  await old.close()
})

test('what was allocated before a region was deleted goes on with those that have it open', async () => {
  await using space = await open('renamed')
  await using other = await open('renamed')
  await using old = await space.openRegion('r', { size: SIZE })
  await old.alloc(1000)
  await using deleted = await other.openRegion('r')
  await deleted.delete()
  await using now = await other.openRegion('r', { size: SIZE })
  assert.equal((await old.alloc(1000)).offsetBytes, 1000)
  assert.equal((await now.alloc(1000)).offsetBytes, 0)
})

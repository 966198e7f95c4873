/** Words of a heap that are damaged at random: what a check finds of each kind of structure, and what it cannot. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { Random } from '../../../src/runtime/index.ts'
import { checkHeap } from '../../../src/structures/checking/check-heap.ts'
import { BlockKind, kindOf } from '../../../src/structures/heap/block-state.ts'
import { BlockTable } from '../../../src/structures/heap/block-table.ts'
import { GRANULE_BYTES, layoutOf } from '../../../src/structures/heap/layout.ts'
import type { StructureKindName } from '../../../src/structures/heap/structure-kind.ts'
import { LocalMemory } from '../../../src/structures/memory/local-memory.ts'
import { Town } from '../town.ts'
import { plays } from './plays.ts'
import { type VitalWord, vitalWords } from './vital-words.ts'

const SEED = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
const WORDS = Number(process.env['AETHER_TEST_WORDS'] ?? 150)
const SPACE = { lastEpoch: 2, nowMs: performance.now() }
const kinds = Object.keys(plays) as StructureKindName[]
console.log(`AETHER_TEST_SEED=${SEED} repeats it`)

/** What two members leave that have used a structure in turns and ended in order. */
function playedHeap(kind: StructureKindName, random: Random): Uint8Array {
  const town = new Town(undefined, undefined, false)
  const members = [town.settle(), town.settle()]
  const turns = members.map((member) => plays[kind](member))
  for (let at = 0; at < 160; at += 1) turns[at % 2]!(random)
  for (const { heap } of members) heap.close()
  const { damaged, lostBytes, entries } = checkHeap(town.bytes, SPACE)
  assert.deepEqual([damaged, lostBytes], [[], 0])
  assert.ok(entries > 0 || kind === 'semaphore' || kind === 'barrier')
  return town.bytes
}

function isFound(bytes: Uint8Array): boolean {
  const { damaged, lostBytes } = checkHeap(bytes, SPACE)
  return damaged.length > 0 || lostBytes > 0
}

/** All words of blocks that are in use. */
function wordsInUse(bytes: Uint8Array): readonly number[] {
  const table = new BlockTable(new LocalMemory(bytes), layoutOf(bytes.length))
  const offsets: number[] = []
  for (let slab = 0; slab < table.backed; slab += 1)
    table.eachBlock(slab, (reference, state) => {
      if (kindOf(state) !== BlockKind.Live) return
      for (let at = 0; at < table.lengthOf(reference); at += 4) offsets.push(reference * GRANULE_BYTES + at)
    })
  return offsets
}

function bitOf({ bits }: VitalWord, random: Random): number {
  for (;;) {
    const bit = 1 << random.below(32)
    if ((bits & bit) !== 0) return bit
  }
}

for (const kind of kinds)
  test(`${kind}: no turned bit goes unseen in a word that holds it together`, (t) => {
    const random = new Random(SEED)
    const bytes = playedHeap(kind, random)
    const vital = vitalWords(kind, bytes)
    const words = new Int32Array(bytes.buffer)
    for (let at = 0; at < WORDS; at += 1) {
      const word = vital[random.below(vital.length)]!
      const bit = bitOf(word, random)
      words[word.offset / 4]! ^= bit
      assert.ok(isFound(bytes), `${word.what} at byte ${word.offset}, bit ${Math.log2(bit >>> 0)}`)
      words[word.offset / 4]! ^= bit
    }
    t.diagnostic(`${WORDS} of ${vital.length} words, all found`)
  })

for (const kind of kinds)
  test(`${kind}: whatever words are damaged, a check ends, and says what it has found`, (t) => {
    const random = new Random(SEED)
    const bytes = playedHeap(kind, random)
    const offsets = wordsInUse(bytes)
    const words = new Int32Array(bytes.buffer)
    const whole = words.slice()
    let found = 0
    for (let at = 0; at < WORDS; at += 1) {
      const count = random.below(4) === 0 ? 1 + random.below(20) : 1
      for (let damaged = 0; damaged < count; damaged += 1) {
        // Also the words of the heap itself, its members, and the states of its blocks.
        const offset =
          random.below(3) === 0
            ? random.below(layoutOf(bytes.length).slabsOffset / 4) * 4
            : offsets[random.below(offsets.length)]!
        words[offset / 4] = random.below(2) === 0 ? words[offset / 4]! ^ (1 << random.below(32)) : random.uint32() | 0
      }
      if (isFound(bytes)) found += 1
      words.set(whole)
    }
    assert.ok(found > 0)
    t.diagnostic(`found ${found} of ${WORDS}; the others hit values, free space or words that may be anything`)
  })

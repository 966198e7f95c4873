import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/codecs/index.ts'
import { QueueCore } from '../../../src/structures/list/queue-core.ts'
import { StackCore } from '../../../src/structures/list/stack-core.ts'
import { LIST_BODY_BYTES, LIST_WORDS_OFFSET } from '../../../src/structures/list/value-list.ts'
import { LogCore } from '../../../src/structures/log/log-core.ts'
import { LOG_BODY_BYTES } from '../../../src/structures/log/shared-log.ts'
import { MAP_BODY_BYTES } from '../../../src/structures/map/layout.ts'
import { SharedMap } from '../../../src/structures/map/shared-map.ts'
import { bound } from '../../../src/structures/parameter.ts'
import { HeapSight, identifyHeap } from '../../../src/structures/sight/heap-sight.ts'
import { heapUse } from '../../../src/structures/sight/heap-use.ts'
import { NamedStructures } from '../../../src/structures/sight/named-structures.ts'
import { contentsOf, figuresOf } from '../../../src/structures/sight/structure-sight.ts'
import { codecParameter } from '../../../src/structures/values/codec-parameter.ts'
import { ValueReader } from '../../../src/structures/values/value-reader.ts'
import { BELL_BYTES } from '../../../src/structures/waiting/bell.ts'
import { drawnSeeds } from '../../support/drawn.ts'
import { type Inhabitant, Town } from '../town.ts'

const NUMBER = codecParameter(number)

/** Changes of one structure, one after the other, and what it has after each. */
interface Play {
  readonly kind: 'map' | 'queue' | 'stack' | 'log'
  /** Performs step `step` as this inhabitant. */
  play(by: Inhabitant): (step: number) => void
  readonly steps: number
  /** Entries after so many steps. */
  entriesAfter(steps: number): number
}

const map: Play = {
  kind: 'map',
  steps: 90,
  play({ heap, directory }) {
    const { offset } = directory.open({
      kind: 'map',
      name: 'it',
      bodyBytes: MAP_BODY_BYTES,
      parameters: [bound('ttlMs', 0), bound('maxEntries', 0), NUMBER],
    })
    const shared = new SharedMap<number>('it', heap, offset, {
      codec: number,
      valueBytesMax: 8,
      ttlMs: 0,
      maxEntries: 0,
    })
    // More keys than the first table holds, so that it grows in the middle; every third step takes one away.
    return (step) => (step % 3 === 2 ? shared.deleteSync(`key ${step - 1}`) : shared.setSync(`key ${step}`, step))
  },
  entriesAfter: (steps) => Math.ceil(steps / 3) + (steps % 3 === 2 ? 1 : 0),
}

function listPlay(kind: 'queue' | 'stack'): Play {
  return {
    kind,
    steps: 24,
    play({ heap, directory }) {
      const { offset } = directory.open({
        kind,
        name: 'it',
        bodyBytes: LIST_BODY_BYTES,
        parameters: [bound('capacity', 0), NUMBER],
      })
      const body = offset + LIST_WORDS_OFFSET
      const core =
        kind === 'queue' ? new QueueCore(heap, body, { capacity: 0 }) : new StackCore(heap, body, { capacity: 0 })
      const reader = new ValueReader(heap.memory, number)
      return (step) => (step % 3 === 2 ? core.pop(reader) : core.push(number.encode(step)))
    },
    entriesAfter: (steps) => Math.ceil(steps / 3) + (steps % 3 === 2 ? 1 : 0),
  }
}

const log: Play = {
  kind: 'log',
  steps: 12,
  play({ heap, directory }) {
    const { offset } = directory.open({
      kind: 'log',
      name: 'it',
      bodyBytes: LOG_BODY_BYTES,
      parameters: [bound('capacity', 5), bound('capacityBytes', 0), NUMBER],
    })
    const core = new LogCore(heap, offset + BELL_BYTES, { records: 5, bytes: 0, dropsForMemory: false })
    return (step) => core.append(number.encode(step))
  },
  // While one is appended there may be one more.
  entriesAfter: (steps) => Math.min(5, steps),
}

const plays = [map, listPlay('queue'), listPlay('stack'), log]

/** Everything that can be read of a heap, which must never throw. */
function readAll(heap: HeapSight) {
  const structures = new NamedStructures(heap).list()
  heapUse(heap)
  return structures.map((structure) => ({
    structure,
    figures: figuresOf(heap, structure),
    contents: contentsOf(heap, structure, 1000),
  }))
}

test('a heap that nobody changes is read as it is: names, kinds, entries, bytes, contents', () => {
  for (const { kind, play, steps, entriesAfter } of plays) {
    const town = new Town()
    const inhabitant = town.settle()
    const step = play(inhabitant)
    for (let at = 0; at < steps; at += 1) step(at)
    const [seen, ...others] = readAll(new HeapSight(town.bytes))
    assert.equal(others.length, 0)
    assert.deepEqual([seen?.structure.name, seen?.structure.kind], ['it', kind])
    assert.equal(seen?.figures.entries, entriesAfter(steps))
    assert.equal(seen.contents.items.length, entriesAfter(steps))
    assert.ok(seen.contents.isWhole && seen.figures.isEstimate !== true && seen.figures.isChanging !== true)
    // What retired waits to be used again, and a deleted key keeps its place in the map: no less is not the map's.
    const { usedBytes } = inhabitant.heap.usage()
    assert.ok(seen.figures.bytes! <= usedBytes, `${seen.figures.bytes} of ${usedBytes}`)
    assert.ok(seen.figures.bytes! > entriesAfter(steps) * 64)
    assert.deepEqual(heapUse(new HeapSight(town.bytes)).usedBytes, usedBytes)
  }
})

test('the contents are the keys of a map, the next values of a queue and a stack, the newest entries of a log', () => {
  const shown = plays.map(({ play, steps }) => {
    const town = new Town()
    const step = play(town.settle())
    for (let at = 0; at < Math.min(6, steps); at += 1) step(at)
    const items = readAll(new HeapSight(town.bytes))[0]!.contents.items
    return items.map(({ label, text }) => `${label}: ${text}`)
  })
  assert.deepEqual(shown, [
    ["'key 0': 8 bytes", "'key 3': 8 bytes"].sort((a, b) => shown[0]!.indexOf(a) - shown[0]!.indexOf(b)),
    ['1: 3', '2: 4'],
    ['1: 3', '2: 0'],
    ['5: 5', '4: 4', '3: 3', '2: 2', '1: 1'],
  ])
})

test('who is read while it is at any step in the middle of a change is read as before or after it', () => {
  for (const { play, steps, entriesAfter } of plays) {
    const town = new Town()
    const inhabitant = town.settle()
    const step = play(inhabitant)
    const sight = new HeapSight(town.bytes)
    const names = new NamedStructures(sight)
    let reads = 0
    for (let at = 0; at < steps; at += 1) {
      const bounds = [entriesAfter(at), entriesAfter(at + 1)].sort((a, b) => a - b) as [number, number]
      inhabitant.memory.before = () => {
        const structure = names.list()[0]
        if (structure === undefined) return
        const { entries, isChanging } = figuresOf(sight, structure)
        const { items } = contentsOf(sight, structure, 1000)
        reads += 1
        assert.ok(isChanging !== true && entries !== undefined, 'nothing changes between two accesses')
        // A log may have one more than its bound until its writer has dropped the first.
        assert.ok(entries >= bounds[0] && entries <= bounds[1] + 1, `step ${at}: ${entries} of ${bounds.join(' to ')}`)
        assert.ok(items.length >= bounds[0] - 1 && items.length <= bounds[1] + 1, `step ${at}: ${items.length} items`)
        for (const { text } of items) assert.match(text, /^(\d+|8 bytes)$/)
      }
      step(at)
      inhabitant.memory.before = undefined
    }
    assert.ok(reads > steps * 10, `it was read ${reads} times`)
  }
})

/** More than a step takes. */
const ACCESSES_MAX = 100_000

test('who is killed at any access leaves a heap that is read without an error, and as before or after the change', () => {
  for (const { play, steps, entriesAfter } of plays) {
    const last = steps - 1
    let isDone = false
    for (const calls of drawnSeeds(ACCESSES_MAX, 5)) {
      if (isDone) break
      const town = new Town()
      const [first, victim] = [town.settle(), town.settle()]
      const prepare = play(first)
      for (let at = 0; at < last; at += 1) prepare(at)
      const step = play(victim)
      isDone = victim.killedAfter(calls, () => step(last))
      const { figures, contents } = readAll(new HeapSight(town.bytes))[0]!
      const possible = [entriesAfter(last), entriesAfter(steps), entriesAfter(steps) + 1]
      assert.ok(possible.includes(figures.entries!), `killed after ${calls}: ${figures.entries} entries`)
      assert.ok(contents.items.length <= Math.max(...possible))
      // Another settles it, and the reader sees that too.
      town.bury(victim)
      first.heap.recover()
      const after = readAll(new HeapSight(town.bytes))[0]!
      assert.ok(possible.includes(after.figures.entries!), `recovered after ${calls}: ${after.figures.entries} entries`)
    }
    assert.ok(isDone)
  }
})

test('reading changes no byte', () => {
  for (const { play, steps } of plays) {
    const town = new Town()
    const step = play(town.settle())
    for (let at = 0; at < steps; at += 1) step(at)
    const before = Buffer.from(town.bytes)
    readAll(new HeapSight(town.bytes))
    assert.equal(Buffer.compare(before, Buffer.from(town.bytes)), 0)
  }
})

/** Deterministic, so that a failure can be replayed by its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('garbage in any place ends in no error, no endless loop and no absurd figure', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = randomFrom(seed)
    const { play, steps } = plays[seed % plays.length]!
    const town = new Town()
    const step = play(town.settle())
    for (let at = 0; at < steps; at += 1) step(at)
    const words = new Int32Array(town.bytes.buffer)
    const { statesOffset, slabsOffset } = new HeapSight(town.bytes).layout
    // Where what is there has a meaning: directory, records, states of the first slabs, their blocks.
    const places = [0x11000, 0x12000, statesOffset, slabsOffset]
    for (let change = 0; change < 400; change += 1) {
      const from = places[random(places.length)]! / 4
      words[from + random(4096)] = random(3) === 0 ? random(64) : random(2 ** 32)
    }
    for (const { figures, contents } of readAll(new HeapSight(town.bytes))) {
      assert.ok(figures.entries === undefined || figures.entries >= 0, `seed ${seed}`)
      assert.ok(figures.bytes === undefined || figures.bytes >= 0, `seed ${seed}`)
      assert.ok(contents.items.length <= 1000, `seed ${seed}`)
    }
  }
})

test('a circle of nodes and a chain without an end are left after a bounded number of steps', () => {
  const town = new Town()
  const inhabitant = town.settle()
  const step = listPlay('queue').play(inhabitant)
  for (const at of [0, 1, 3, 4]) step(at)
  const { heap } = inhabitant
  const { offset } = inhabitant.directory.open({
    kind: 'queue',
    name: 'it',
    bodyBytes: LIST_BODY_BYTES,
    parameters: [bound('capacity', 0), NUMBER],
  })
  const head = heap.memory.load(offset + LIST_WORDS_OFFSET)
  const last = heap.memory.load(offset + LIST_WORDS_OFFSET + 4)
  heap.memory.store(last * 64 + 4, head)
  const { figures, contents } = readAll(new HeapSight(town.bytes))[0]!
  assert.ok(figures.isChanging, 'its end is not found')
  assert.ok(!contents.isWhole && contents.items.length === 1000)
})

test('a region is known as a heap by its first bytes, and one of another version is told from other data', () => {
  const town = new Town()
  town.settle()
  const { bytes } = town
  assert.equal(identifyHeap(bytes, bytes.length), 'heap')
  assert.equal(identifyHeap(bytes, bytes.length * 2), 'none', 'the size is another')
  assert.equal(identifyHeap(bytes.subarray(0, 8), bytes.length), 'none')
  bytes[4]! += 1
  assert.equal(identifyHeap(bytes, bytes.length), 'other version')
  bytes[0]! += 1
  assert.equal(identifyHeap(bytes, bytes.length), 'none')
})

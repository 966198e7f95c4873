import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes } from '../../../src/codecs/index.ts'
import { QueueCore } from '../../../src/structures/list/queue-core.ts'
import { StackCore } from '../../../src/structures/list/stack-core.ts'
import { LIST_BODY_BYTES, LIST_WORDS_OFFSET } from '../../../src/structures/list/value-list.ts'
import { LogCore } from '../../../src/structures/log/log-core.ts'
import { LOG_BODY_BYTES } from '../../../src/structures/log/shared-log.ts'
import { MAP_BODY_BYTES } from '../../../src/structures/map/layout.ts'
import { SharedMap } from '../../../src/structures/map/shared-map.ts'
import { bound } from '../../../src/structures/parameter.ts'
import { HeapSight } from '../../../src/structures/sight/heap-sight.ts'
import { NamedStructures } from '../../../src/structures/sight/named-structures.ts'
import { contentsOf, figuresOf } from '../../../src/structures/sight/structure-sight.ts'
import { codecParameter } from '../../../src/structures/values/codec-parameter.ts'
import { ValueReader } from '../../../src/structures/values/value-reader.ts'
import { BELL_BYTES } from '../../../src/structures/waiting/bell.ts'
import { type Inhabitant, Town } from '../town.ts'

const CODEC = codecParameter(bytes)
const READS = 400

/** Others do something between any two looks of this reader at the memory. */
class InterruptedSight extends HeapSight {
  between: (() => void) | undefined

  override word(offset: number): number {
    this.between?.()
    return super.word(offset)
  }

  override float(offset: number): number {
    this.between?.()
    return super.float(offset)
  }

  override copy(offset: number, lengthBytes: number): Uint8Array {
    this.between?.()
    return super.copy(offset, lengthBytes)
  }
}

/** Deterministic, so that a failure can be replayed by its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A value that tells which it is: so many bytes, and the number in the first ones. */
function wholeOf(number: number): Uint8Array {
  // Many lengths have blocks of one size, so that the memory of one serves for another.
  const value = Buffer.alloc(8 + ((number * 11) % 80), number & 0xff)
  value.writeUInt32BE(number)
  return value
}

/** Which value a text tells of. */
function numberIn(text: string, where: string): number {
  const [, length, hex = ''] = /^(\d+) bytes: ([0-9a-f]+)…?$/.exec(text) ?? []
  const shown = Buffer.from(hex, 'hex')
  assert.ok(shown.length >= 8, `${where}: ${text}`)
  const number = shown.readUInt32BE(0)
  const wanted = wholeOf(number)
  assert.ok(Number(length) === wanted.length && shown.equals(wanted.subarray(0, shown.length)), `${where}: ${text}`)
  return number
}

/** What holds for the values of a structure in the order in which they are told. */
const isInOrder = {
  queue: (number: number, before: number) => number === before + 1,
  stack: (number: number, before: number) => number < before,
  log: (number: number, before: number) => number === before - 1,
} as const

/** What changes the structure a little, and says how many entries it has then. */
type Change = () => number

const writers: Readonly<
  Record<'map' | 'queue' | 'stack' | 'log', (by: Inhabitant, random: (n: number) => number) => Change>
> = {
  map({ heap, directory }, random) {
    const { offset } = directory.open({
      kind: 'map',
      name: 'it',
      bodyBytes: MAP_BODY_BYTES,
      parameters: [bound('ttlMs', 0), bound('maxEntries', 0), CODEC],
    })
    const settings = { codec: bytes, valueBytesMax: 1000, ttlMs: 0, maxEntries: 0 }
    const map = new SharedMap<Uint8Array>('it', heap, offset, settings)
    return () => {
      const number = random(60)
      if (random(3) === 0) map.deleteSync(number)
      else map.setSync(number, wholeOf(number))
      return map.sizeSync()
    }
  },
  queue: ({ heap, directory }, random) => listWriter('queue', heap, directory, random),
  stack: ({ heap, directory }, random) => listWriter('stack', heap, directory, random),
  log({ heap, directory }) {
    const parameters = [bound('capacity', 9), bound('capacityBytes', 0), CODEC]
    const { offset } = directory.open({ kind: 'log', name: 'it', bodyBytes: LOG_BODY_BYTES, parameters })
    const core = new LogCore(heap, offset + BELL_BYTES, { records: 9, bytes: 0, dropsForMemory: false })
    let next = 0
    return () => {
      core.append(wholeOf(next++))
      const { first, end } = core.bounds()
      return end - first
    }
  },
}

function listWriter(
  kind: 'queue' | 'stack',
  heap: Inhabitant['heap'],
  directory: Inhabitant['directory'],
  random: (below: number) => number,
): Change {
  const { offset } = directory.open({
    kind,
    name: 'it',
    bodyBytes: LIST_BODY_BYTES,
    parameters: [bound('capacity', 0), CODEC],
  })
  const body = offset + LIST_WORDS_OFFSET
  const core =
    kind === 'queue' ? new QueueCore(heap, body, { capacity: 0 }) : new StackCore(heap, body, { capacity: 0 })
  const reader = new ValueReader(heap.memory, bytes)
  let next = 0
  return () => {
    const length = core.length()
    if (random(length < 12 ? 4 : 2) === 0) core.pop(reader)
    else core.push(wholeOf(next++))
    return core.length()
  }
}

for (const kind of ['map', 'queue', 'stack', 'log'] as const) {
  test(`a ${kind} whose memory is freed and used again between any two loads is told whole, or as changing`, () => {
    const told = { figures: 0, changing: 0, items: 0 }
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = randomFrom(seed)
      const town = new Town()
      const inhabitant = town.settle()
      const change = writers[kind](inhabitant, random)
      const sight = new InterruptedSight(town.bytes)
      let [least, most] = [0, 0]
      const write = (): void => {
        const entries = change()
        // Memory that was given up is used again at once.
        inhabitant.heap.collect()
        ;[least, most] = [Math.min(least, entries), Math.max(most, entries)]
      }
      for (let at = 0; at < 30; at += 1) write()
      for (let read = 0; read < READS / 12; read += 1) {
        // From a write at every load to one in fifty.
        const rarity = 1 + (read % 50)
        const structure = new NamedStructures(sight).list()[0]!
        ;[least, most] = [change(), 0]
        most = least
        sight.between = () => void (random(rarity) === 0 && write())
        const { entries, bytes: lengthBytes, isChanging } = figuresOf(sight, structure)
        const { items } = contentsOf(sight, structure, 100)
        sight.between = undefined
        if (isChanging === true) told.changing += 1
        else told.figures += 1
        const where = `seed ${seed}, read ${read}`
        if (entries !== undefined && kind !== 'map')
          assert.ok(entries >= least && entries <= most + 1, `${where}: ${entries} of ${least} to ${most}`)
        if (lengthBytes !== undefined) assert.ok(lengthBytes >= 0 && lengthBytes < town.bytes.length, where)
        let before: number | undefined
        for (const { label, text } of items) {
          if (kind === 'map') assert.equal(text, `${wholeOf(Number(label)).length} bytes`, `${where}: ${label}`)
          if (kind === 'map' || text === 'changing') continue
          told.items += 1
          const value = numberIn(text, where)
          assert.ok(before === undefined || isInOrder[kind](value, before), `${where}: ${value} after ${before}`)
          if (kind === 'log') assert.equal(label, String(value))
          before = value
        }
        if (kind === 'map') told.items += items.length
      }
    }
    assert.ok(told.figures > 20 && told.items > 100, JSON.stringify(told))
  })
}

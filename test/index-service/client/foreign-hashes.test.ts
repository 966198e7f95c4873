/**
 * Whole hashes that are read out of a table, step by step under the eyes of a writer. Between any two places that a
 * reader looks at, entries are decided, and single records of the table are changed as an entry says.
 */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { ForeignReads } from '../../../src/index-service/client/foreign-reads.ts'
import type { LookedHash } from '../../../src/index-service/looked.ts'
import type { Chunk } from '../../../src/index-service/memory/chunk.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { MappedTable, type TableMemory } from '../../../src/index-service/memory/table-memory.ts'
import { TableReader } from '../../../src/index-service/memory/table-reader.ts'
import { shardCodec } from '../../../src/index-service/state/shard-codec.ts'
import type { Call } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { bytesOf, latin1Of } from '../../../src/index-service/values/latin1.ts'
import { Random } from '../../../src/runtime/index.ts'
import { drawnSeeds } from '../../support/drawn.ts'
import { MapRecords } from '../../support/map-records.ts'

const HASHES = ['one', 'other']
const FIELDS = ['a', 'b', 'c', 'd', '', 'a long name of a field']

type Change = (table: RecordTable) => void

/** Notes how records are changed. */
class NotedRecords extends MapRecords {
  changes: Change[] = []

  override set(key: Uint8Array, value: Uint8Array): void {
    const [ownKey, ownValue] = [Uint8Array.from(key), Uint8Array.from(value)]
    this.changes.push((table) => table.set(ownKey, ownValue))
    super.set(key, value)
  }

  override delete(key: Uint8Array): boolean {
    const ownKey = Uint8Array.from(key)
    this.changes.push((table) => table.delete(ownKey))
    return super.delete(key)
  }

  together<T>(change: () => T): T {
    const before = this.changes
    this.changes = []
    const parts = this.changes
    try {
      return change()
    } finally {
      this.changes = before
      this.changes.push((table) =>
        table.together(() => {
          for (const part of parts) part(table)
        }),
      )
    }
  }
}

/** A log with entries about two hashes, and the table of its leader. */
class World {
  readonly random: Random
  readonly table = new RecordTable()
  /** What each key has held; calls that are apart have a moment each. */
  readonly #history: (readonly string[])[] = [HASHES.map(() => 'null')]
  /** How many moments there are after each entry. */
  readonly #moments: number[] = [1]
  readonly #records = new NotedRecords()
  readonly #machine = new ShardMachine({ records: this.#records })
  /** Runs calls that are apart one by one. */
  readonly #model = new ShardMachine({ records: new MapRecords() })
  readonly #entries: Change[][] = []
  readonly #pace: number
  #applied = 0

  constructor(seed: number) {
    this.random = new Random(seed)
    this.#pace = 3 + this.random.below(300)
    while (this.decided < 4) this.#decide()
    while (this.#applied < this.decided) this.#apply()
  }

  get decided(): number {
    return this.#entries.length
  }

  step(): void {
    if (this.random.below(this.#pace) > 1) return
    if (this.#applied === this.decided || this.random.below(20) === 0) this.#decide()
    else this.#apply()
  }

  /** The leader goes on for a while. */
  goOn(): void {
    for (let left = this.random.below(30); left > 0 && this.#applied < this.decided; left -= 1) this.#apply()
  }

  #decide(): void {
    const calls = Array.from({ length: 1 + this.random.below(3) }, () => this.#call())
    const index = this.decided + 1
    const apart = this.random.below(2) === 0
    this.#records.changes = []
    // Nodes have them packed.
    const command = shardCodec.decode(shardCodec.encode({ calls, apart }))
    this.#machine.apply(command, { index, timeMs: 1, term: 1 })
    this.#entries.push(this.#records.changes)
    this.#records.changes = []
    for (const part of apart ? calls.map((call) => [call]) : [calls]) {
      this.#model.apply({ calls: part }, { index, timeMs: 1, term: 1 })
      this.#history.push(HASHES.map((name) => this.#held(name)))
    }
    this.#moments.push(this.#history.length)
  }

  /** What a key may hold for those who look from entry `from` on. */
  heldSince(from: number, key: number): readonly string[] {
    return this.#history.slice(this.#moments[from]! - 1).map((held) => held[key]!)
  }

  /** One change of a record, or the end of an entry. */
  #apply(): void {
    const change = this.#entries[this.#applied]!.shift()
    if (change !== undefined) change(this.table)
    else {
      this.#applied += 1
      this.table.publish(this.#applied)
    }
  }

  #call(): Call {
    const { random } = this
    const key = HASHES[random.below(2)]!
    const of = (name: string, ...args: string[]): Call => ({ name, args: [key, ...args].map(bytesOf) })
    const field = (): string => FIELDS[random.below(FIELDS.length)]!
    const value = (): string => `${this.decided} `.repeat(random.below(12))
    const kind = random.below(20)
    if (kind < 13) return of('HSET', ...Array.from({ length: 1 + random.below(4) }, () => [field(), value()]).flat())
    if (kind < 17) return of('HDEL', field(), field())
    if (kind === 17) return of('DEL')
    return kind === 18 ? of('SET', value()) : of('RENAME', HASHES[random.below(2)]!)
  }

  #held(name: string): string {
    const [reply] = this.#model.read([{ name: 'HGETALL', args: [bytesOf(name)] }], 1)
    if (!(reply instanceof Map)) return 'other type'
    return reply.size === 0 ? 'null' : textOf([...reply] as [Uint8Array, Uint8Array][])
  }
}

function textOf(looked: LookedHash): string {
  if (looked === null || looked === 'other type') return String(looked)
  return JSON.stringify(looked.map(([name, value]) => [latin1Of(name), latin1Of(value)]))
}

/** Something happens before each place is looked at. */
class SteppedTable implements TableMemory {
  readonly tries = 8
  readonly before: Uint32Array
  readonly after: Uint32Array
  readonly #mapped: MappedTable
  readonly #world: World

  constructor(mapped: MappedTable, world: World) {
    this.#mapped = mapped
    this.#world = world
    this.before = mapped.before
    this.after = mapped.after
  }

  part(place: number, lengthBytes: number): Chunk | undefined {
    this.#world.step()
    return this.#mapped.part(place, lengthBytes)
  }

  again(place: number, lengthBytes: number): Chunk | undefined {
    return this.part(place, lengthBytes)
  }
}

test('a hash that is read out of memory was so at a moment of the look, with all its fields', () => {
  let found = 0
  let asked = 0
  for (const seed of drawnSeeds(1000, 20)) {
    const world = new World(seed)
    const mapped = MappedTable.open(process.pid, world.table.descriptor)!
    const confirm = (): number => {
      world.step()
      return world.decided
    }
    const reads = new ForeignReads(
      { confirm, close: () => undefined },
      new TableReader(new SteppedTable(mapped, world)),
    )
    for (let look = 0; look < 400; look += 1) {
      const key = world.random.below(2)
      const from = world.decided
      const looked = reads.hash(bytesOf(HASHES[key]!), 0)
      if (looked === undefined) {
        asked += 1
        world.goOn()
        continue
      }
      found += 1
      const may = world.heldSince(from, key)
      assert.ok(may.includes(textOf(looked)), `seed ${seed}: ${textOf(looked)} is not one of ${may.join(' ')}`)
    }
    mapped.close()
    world.table.close()
  }
  assert.ok(found > asked / 4, `only ${found} of ${found + asked} looks found something`)
  console.log(`${found} looks, and ${asked} that ask a node`)
})

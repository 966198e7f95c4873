/**
 * Reads of a shard by READs, word by word under the eyes of a writer. Between any two words that a client reads, the
 * leader's table and the voters' memory change as a seed says: entries are decided and applied later, keys move between
 * buckets and segments, leaders are elected elsewhere and are not told, tables are emptied or others take their place.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { foundingConfiguration, HeadWord } from '../../src/consensus/index.ts'
import { BUFFER_BYTES, ReadBuffer, type ReadPort } from '../../src/index-service/client/read-line.ts'
import { type RemoteNode, RemoteReads } from '../../src/index-service/client/remote-reads.ts'
import { RemoteVoter, VOTER_BYTES } from '../../src/index-service/client/remote-voter.ts'
import type { Looked } from '../../src/index-service/looked.ts'
import { RecordTable } from '../../src/index-service/memory/record-table.ts'
import { RecordKeys, RecordType, RecordValues } from '../../src/index-service/state/record-format.ts'
import { Random } from '../../src/runtime/index.ts'
import { drawnSeeds } from '../support/drawn.ts'

const KEYS = 12
const LONG = Buffer.alloc(60_000)
const ID_OF_NODE = 50
/** Seeds that have found mistakes: a version that was read after slots, and a header in the middle of an emptying. */
const FOUND = [1361, 10_381]

/** The first words of a replica's memory. */
class Head {
  readonly words = new BigUint64Array(VOTER_BYTES / 8)
  readonly bytes = new Uint8Array(this.words.buffer)

  set(word: number, value: number): void {
    this.words[word / 8] = BigInt(value)
  }

  get(word: number): number {
    return Number(this.words[word / 8]!)
  }
}

/** A log, its voters, and the table of voter 0, which leads first and is read. */
class World {
  readonly random: Random
  readonly heads = [new Head(), new Head(), new Head()]
  table: RecordTable
  /** The table whose keys the client has. */
  readonly #told: RecordTable
  readonly #foreign: RecordTable
  /** Of each key, its value after each entry; undefined: none. */
  readonly history: (string | undefined)[][] = [Array<string | undefined>(KEYS).fill(undefined)]
  readonly #entries: { readonly key: number; readonly value: string | undefined }[] = []
  applied = 0
  leader = 0
  term = 1024
  #fill = 0
  /** Keys of a snapshot that are still to come. */
  #loading: number[] | undefined
  readonly #keys = new RecordKeys()
  readonly #values = new RecordValues()
  readonly pace: number

  constructor(seed: number, told: RecordTable, foreign: RecordTable) {
    this.random = new Random(seed)
    this.pace = 2 + this.random.below(300)
    this.table = told
    this.#told = told
    this.#foreign = foreign
    for (const [id, head] of this.heads.entries()) {
      head.set(HeadWord.Id, ID_OF_NODE + id)
      head.set(HeadWord.Promise, this.term)
    }
    for (let write = 0; write < 20; write += 1) this.#decide()
    this.heads[0]!.set(HeadWord.Leads, this.term)
    while (this.#apply());
  }

  get decided(): number {
    return this.#entries.length
  }

  /** Something happens, now and then. */
  step(): void {
    if (this.#loading !== undefined) {
      this.#load(this.#loading)
      return
    }
    if (this.random.below(this.pace) > 1) return
    const kind = this.random.below(400)
    if (kind < 110) this.#decide()
    else if (kind < 260) this.#apply()
    else if (kind < 380) this.#write()
    else if (kind < 382) this.#overwrite()
    else if (kind < 392) this.#elect()
    else if (kind < 398) this.#empty()
    else if (kind < 399) this.table = this.#foreign
  }

  /** By the leader alone. The first of its term says that it leads. */
  #decide(): void {
    const key = this.random.below(KEYS)
    const index = this.decided + 1
    // Several lengths, so that a torn one shows.
    const value = this.random.below(4) === 0 ? undefined : `${index} `.repeat(1 + this.random.below(60))
    this.#entries.push({ key, value })
    const now = [...this.history.at(-1)!]
    now[key] = value
    this.history.push(now)
    this.heads[this.leader]!.set(HeadWord.Known, index)
    if (this.decided > 20) this.heads[this.leader]!.set(HeadWord.Leads, this.term)
  }

  #apply(): boolean {
    if (this.applied === this.decided) return false
    const { key, value } = this.#entries[this.applied]!
    this.applied += 1
    this.#store(key, value, this.applied)
    this.#told.publish(this.applied)
    return true
  }

  #store(key: number, value: string | undefined, version: number): void {
    const record = this.#keys.ofKey(Buffer.from(`key ${key}`), 0)
    if (value === undefined) this.#told.delete(record)
    else this.#told.set(record, this.#values.of(RecordType.String, { version, expireAtMs: 0 }, Buffer.from(value)))
  }

  /** Of others, so that buckets are split and chains get shorter. */
  #write(): void {
    this.#fill += 1
    this.#told.set(this.#keys.ofKey(Buffer.from(`filler ${this.#fill}`), 0), Buffer.alloc(20, this.#fill))
  }

  /** All keys move, and all segments are used again: what lay there is something else. */
  #overwrite(): void {
    for (; this.#fill > 0; this.#fill -= 1) this.#told.delete(this.#keys.ofKey(Buffer.from(`filler ${this.#fill}`), 0))
    for (let key = 0; key < KEYS; key += 1) this.#store(key, this.history[this.applied]![key], this.applied)
    const record = this.#keys.ofKey(Buffer.from('a long one'), 0)
    for (let times = 0; times < 260; times += 1) this.#told.set(record, LONG)
  }

  /** Another leads from now on. Those that promise are a majority; what leads no more is not told. */
  #elect(): void {
    const next = (this.leader + 1 + this.random.below(2)) % 3
    this.term += 1024
    const left = this.random.below(3)
    for (const [id, head] of this.heads.entries()) if (id === next || id !== left) head.set(HeadWord.Promise, this.term)
    this.leader = next
    // It adopts all that is decided before its first entry.
    this.heads[next]!.set(HeadWord.Known, this.decided)
    if (this.random.below(2) === 0) this.#decide()
  }

  /** A snapshot comes, key by key. */
  #empty(): void {
    this.#told.clear()
    this.heads[0]!.set(HeadWord.Leads, 0)
    this.#loading = Array.from({ length: KEYS }, (_, key) => key)
  }

  #load(loading: number[]): void {
    const key = loading.pop()
    if (key !== undefined) this.#store(key, this.history[this.applied]![key], this.applied)
    else {
      this.#loading = undefined
      this.#told.publish(this.applied)
    }
  }
}

/** Reads the memory of a node of that world. Words of a piece come in any order, pieces one after the other. */
class WorldPort implements ReadPort {
  readonly bytes = new Uint8Array(8 * BUFFER_BYTES)
  readonly words = new Uint32Array(this.bytes.buffer)
  slowUntilMs = 0
  readonly isOver = false
  readonly #world: World
  readonly #buffers = Array.from({ length: 8 }, (_, number) => new ReadBuffer(number * BUFFER_BYTES))

  constructor(world: World) {
    this.#world = world
  }

  take(): ReadBuffer | undefined {
    const buffer = this.#buffers.find(({ isFree }) => isFree)
    if (buffer !== undefined) buffer.isFree = false
    return buffer
  }

  giveBack(buffer: ReadBuffer): void {
    buffer.isFree = true
  }

  async read(_: ReadBuffer, pieces: Parameters<ReadPort['read']>[1]): Promise<boolean> {
    const world = this.#world
    for (const { from, lengthBytes, to } of pieces) {
      const order = Array.from({ length: lengthBytes / 8 }, (_, word) => word * 8)
      for (let at = order.length - 1; at > 0; at -= 1) {
        const other = world.random.below(at + 1)
        const kept = order[at]!
        order[at] = order[other]!
        order[other] = kept
      }
      for (const word of order) {
        // Few words are apart where a piece is long.
        if (order.length < 40 || world.random.below(order.length) < 8) world.step()
        const source = from.key < 3 ? world.heads[from.key]!.bytes : world.table.chunks[from.key - 3]
        if (source === undefined) return false
        this.bytes.set(source.subarray(from.address + word, from.address + word + 8), to + word)
      }
      // Connections to other nodes go their own way.
      for (let turns = world.random.below(4); turns > 0; turns -= 1) await Promise.resolve()
    }
    return true
  }
}

const foreign = new RecordTable()
foreign.publish(2 ** 40)
after(() => foreign.close())

function readsOf(world: World, told: RecordTable): RemoteReads {
  const placeOf = (key: number) => ({ address: 0, key })
  const node = (id: number): RemoteNode => ({
    line: new WorldPort(world),
    memory: {
      place: { address: '', port: 0 },
      identity: told.identity,
      chunks: told.chunks.map((_, number) => placeOf(3 + number)),
      heads: [{ id: ID_OF_NODE + id, ...placeOf(id) }],
    },
  })
  const configuration = foundingConfiguration([0, 1, 2].map((id) => ID_OF_NODE + id))
  const others = world.random.below(2) === 0 ? [node(1), node(2)] : [node(2), node(1)]
  return new RemoteReads({ configuration, currentMs: Number.POSITIVE_INFINITY, leader: node(0), others })
}

test('what a READ of another machine returns was the value of the key at a moment of the call', async () => {
  let found = 0
  let asked = 0
  for (const seed of new Set([...FOUND, ...drawnSeeds(4000, 20)])) {
    const told = new RecordTable()
    const world = new World(seed, told, foreign)
    const reads = readsOf(world, told)
    await reads.begin()
    const client = async (): Promise<void> => {
      for (let call = 0; call < 12; call += 1) {
        const key = world.random.below(KEYS)
        const from = world.decided
        const looked: Looked | undefined = await reads.string(Buffer.from(`key ${key}`), 0)
        if (looked === undefined) {
          asked += 1
          continue
        }
        found += 1
        const value = looked === null ? undefined : String(looked)
        const may = world.history.slice(from).map((values) => values[key])
        assert.ok(may.includes(value), `seed ${seed}, key ${key}: ${value} is not one of ${JSON.stringify(may)}`)
      }
    }
    await Promise.all([client(), client()])
    told.close()
  }
  assert.ok(found > asked / 4, `only ${found} of ${found + asked} reads found something`)
  console.log(`${found} reads, and ${asked} that ask a node`)
})

test('a table that has grown into further segments since it was first read misses no key', async () => {
  const told = new RecordTable()
  const world = new World(1, told, foreign)
  // Nothing else happens.
  world.step = () => undefined
  const reads = readsOf(world, told)
  await reads.begin()
  const keys = new RecordKeys()
  const values = new RecordValues()
  const count = 60_000
  const nameOf = (number: number): Buffer => Buffer.from(`grown ${number}`)
  const stored = (number: number): Uint8Array =>
    values.of(RecordType.String, { version: 1, expireAtMs: 0 }, Buffer.from(`${number}`))
  told.set(keys.ofKey(nameOf(0), 0), stored(0))
  for (let look = 0; look < 2; look += 1) assert.equal(String(await reads.string(nameOf(0), 0)), '0')
  for (let number = 1; number < count; number += 1) told.set(keys.ofKey(nameOf(number), 0), stored(number))
  let found = 0
  for (let number = 0; number < count; number += 301) {
    const looked = await reads.string(nameOf(number), 0)
    if (looked === undefined) continue
    assert.equal(String(looked), `${number}`)
    found += 1
  }
  assert.ok(found > 150, `only ${found} are found by READs`)
  told.close()
})

test('a voter leads once two READs have found it leading the same term, and an earlier READ changes nothing', () => {
  const head = new Head()
  head.set(HeadWord.Id, 7)
  head.set(HeadWord.Known, 3)
  head.set(HeadWord.Leads, 2048)
  const voter = new RemoteVoter(7)
  assert.equal(voter.take(head.bytes, 0, 1), 'taken')
  assert.deepEqual([voter.leads, voter.known], [0, 3])
  head.set(HeadWord.Known, 5)
  assert.equal(voter.take(head.bytes, 0, 3), 'taken')
  assert.deepEqual([voter.leads, voter.known], [2048, 5])
  head.set(HeadWord.Known, 4)
  assert.equal(voter.take(head.bytes, 0, 2), 'old')
  assert.deepEqual([voter.leads, voter.known], [2048, 5])
  head.set(HeadWord.Leads, 4096)
  assert.equal(voter.take(head.bytes, 0, 4), 'taken')
  assert.equal(voter.leads, 0)
  assert.equal(new RemoteVoter(8).take(head.bytes, 0, 1), 'another')
})

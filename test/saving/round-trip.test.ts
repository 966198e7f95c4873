/** Random contents of random structures come back as they were. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { open } from '../../src/public/index.ts'
import { bytes, type Codec, json, openStructures, type Structures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-round-trip-'))
after(() => rmSync(scratch, { recursive: true }))

const RUNS = Number(process.env['AETHER_TEST_ROUND_TRIPS'] ?? 8)

const text = fc.string({ unit: 'binary', maxLength: 40 })
const blob = fc.uint8Array({ maxLength: 300 })
/** A program's own: what it writes must not be decoded on the way. */
const own: Codec<string> = {
  name: 'own',
  encode: (value) => Buffer.from(value, 'utf16le').reverse(),
  decode: (encoded) => Buffer.from(encoded).reverse().toString('utf16le'),
}

/** Keys of different names are different keys. */
function nameOf(key: unknown): string {
  const text = key instanceof Uint8Array ? Buffer.from(key).toString('hex') : Buffer.from(String(key)).toString('hex')
  return `${typeof key} ${text}`
}

interface Contents {
  readonly map: readonly (readonly [string | number | Uint8Array, Uint8Array])[]
  readonly queue: readonly unknown[]
  readonly stack: readonly string[]
  readonly log: readonly string[]
  readonly trimmed: number
  readonly counter: number
  readonly cell: string
  readonly raw: Uint8Array
}

const contents: fc.Arbitrary<Contents> = fc.record({
  map: fc.uniqueArray(fc.tuple(fc.oneof(text, fc.double({ noNaN: true }), fc.uint8Array({ maxLength: 64 })), blob), {
    selector: ([key]) => nameOf(key),
    maxLength: 30,
  }),
  queue: fc.array(fc.jsonValue(), { maxLength: 40 }),
  stack: fc.array(text, { maxLength: 40 }),
  log: fc.array(text, { maxLength: 40 }),
  trimmed: fc.nat(50),
  counter: fc.maxSafeInteger(),
  cell: text,
  raw: fc.uint8Array({ maxLength: 8000 }),
})

async function openAll(shared: Structures) {
  return {
    map: await shared.map<Uint8Array>('map', { codec: bytes }),
    queue: await shared.queue<unknown>('queue', { codec: json }),
    stack: await shared.stack<string>('stack', { codec: own }),
    log: await shared.log<string>('log', { codec: own }),
    channel: await shared.channel<string>('channel'),
    counter: await shared.counter('counter'),
    cell: await shared.cell<string>('cell', { codec: own }),
  }
}

const keyed = (entries: Iterable<readonly [unknown, Uint8Array]>): Map<string, string> =>
  new Map([...entries].map(([key, value]) => [nameOf(key), Buffer.from(value).toString('hex')]))

function drain<V>(list: { tryPopSync(): V | undefined; lengthSync(): number }): V[] {
  const values: V[] = []
  while (list.lengthSync() > 0) values.push(list.tryPopSync() as V)
  return values
}

test('what was put in comes out', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(contents, async (wanted) => {
      const name = `round-${++runs}`
      const file = join(scratch, name)
      {
        await using space = await open(name)
        await using region = await space.openRegion('raw', { size: 20_000 })
        region.uint8.set(wanted.raw, 20_000 - wanted.raw.length)
        await using shared = await openStructures(space, { size: '2MiB' })
        const { map, queue, stack, log, channel, counter, cell } = await openAll(shared)
        for (const [key, value] of wanted.map) map.setSync(key, value)
        for (const value of wanted.queue) queue.pushSync(value)
        for (const value of wanted.stack) stack.pushSync(value)
        for (const value of wanted.log) {
          log.appendSync(value)
          channel.publishSync(value)
        }
        log.trimSync(wanted.trimmed)
        counter.setSync(wanted.counter)
        shared.rcu.assignSync(cell, wanted.cell)
        await space.save({ file })
      }
      await using space = await open(name, { save: { file } })
      await using region = await space.openRegion('raw')
      assert.deepEqual(region.uint8.slice(20_000 - wanted.raw.length), wanted.raw)
      await using shared = await openStructures(space)
      const { map, queue, stack, log, channel, counter, cell } = await openAll(shared)
      assert.deepEqual(keyed(map.entriesSync()), keyed(wanted.map))
      assert.deepEqual(drain(queue), JSON.parse(JSON.stringify(wanted.queue)))
      assert.deepEqual(drain(stack), [...wanted.stack].reverse())
      const first = Math.min(wanted.trimmed, wanted.log.length)
      assert.deepEqual(
        log.readSync(0).map(({ value }) => value),
        wanted.log.slice(first),
      )
      assert.deepEqual(log.boundsSync(), { first, end: wanted.log.length })
      assert.equal(channel.publishSync('next'), wanted.log.length)
      assert.equal(counter.getSync(), wanted.counter)
      using _section = shared.rcu.readLock()
      assert.equal(shared.rcu.dereference(cell), wanted.cell)
      rmSync(file)
    }),
    { numRuns: RUNS },
  )
})

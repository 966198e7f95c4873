import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { shardCodec, unpackCalls } from '../../../src/index-service/state/shard-codec.ts'
import type { ShardCommand } from '../../../src/index-service/state/shard-command.ts'
import { Random } from '../../../src/runtime/index.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const call = { name: 'SET', args: [bytes('key'), bytes(''), bytes('\0\xff'.repeat(100)), bytes('x'.repeat(70_000))] }

const commands: readonly ShardCommand[] = [
  { calls: [] },
  { calls: [call] },
  { calls: [call, { name: 'PING', args: [] }, call] },
  { calls: [call, { ...call, db: 2 }], apart: true },
  { calls: [call], watched: [{ key: bytes('a'), version: 3 }], admitted: true },
  { calls: [call], waiter: 7, bound: 2 ** 40 },
  { calls: [call, call], apart: true, bound: 1 },
  { evict: [] },
  {
    evict: [
      { key: bytes('a'), version: 3 },
      { key: bytes(''), version: 2 ** 50, db: 15 },
    ],
  },
  { calls: [call], waiter: 2 ** 48 + 17 },
  { calls: [call, { ...call, origin: 2 ** 52 + 1 }, { ...call, db: 3, origin: 7 }] },
  { calls: [], watched: [{ key: bytes('a'), version: 0 }] },
  {
    calls: [call],
    watched: [
      { key: bytes(''), version: 2 ** 50 },
      { key: bytes('b'), version: 1 },
    ],
    waiter: 0,
  },
  { calls: [call, { ...call, db: 15 }], watched: [{ key: bytes('a'), version: 1 }] },
  { calls: [call], watched: [{ key: bytes('a'), version: 1, db: 3 }], waiter: 7 },
  { expire: true },
  { cancel: 12 },
  { forget: [] },
  { forget: [1, 2 ** 52, 3] },
]

/** A command with texts for bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

/** Calls that have nothing else to say are decoded as they lie there. */
function unpacked(command: ShardCommand): ShardCommand {
  if (!('packed' in command)) return command
  const { packed, ...rest } = command
  return { calls: unpackCalls(packed), ...rest }
}

test('each command is what it was after it was encoded and decoded', () => {
  for (const command of commands) {
    const encoded = Uint8Array.from(shardCodec.encode(command))
    const decoded = shardCodec.decode(encoded)
    assert.deepEqual(plain(unpacked(decoded)), plain(command))
    assert.deepEqual(plain(shardCodec.encode(decoded)), plain(encoded))
  }
})

test('a command for database 0 takes no byte for it, and one for another a byte for each call', () => {
  const lengthOf = (...dbs: number[]): number => shardCodec.encode({ calls: dbs.map((db) => ({ ...call, db })) }).length
  assert.equal(lengthOf(0), shardCodec.encode({ calls: [call] }).length)
  assert.equal(lengthOf(5), lengthOf(0) + 1)
  assert.equal(lengthOf(0, 5, 0), lengthOf(0, 0, 0) + 3)
  for (const db of [-1, 16, 256, 0.5, Number.NaN]) assert.throws(() => lengthOf(db), /there is no database/)
  assert.throws(() => shardCodec.decode(Uint8Array.of(1, 4, 1, 16, 0, 0)), /database 16 is unknown/)
})

test('what was decoded has memory of its own', () => {
  const encoded = Uint8Array.from(shardCodec.encode({ calls: [call] }))
  const decoded = shardCodec.decode(encoded)
  encoded.fill(0)
  assert.deepEqual(plain(unpacked(decoded)), plain({ calls: [call] }))
})

test('a command that is cut off at any byte, or has more behind it, is refused', () => {
  for (const command of commands) {
    const encoded = Uint8Array.from(shardCodec.encode(command))
    const ends = Array.from({ length: Math.min(encoded.length, 400) }, (_, end) => end)
    for (const end of [...ends, encoded.length - 1])
      assert.throws(() => shardCodec.decode(encoded.subarray(0, end)), { code: 'ERR_AETHER_INDEX_COMMAND' })
    assert.throws(() => shardCodec.decode(Buffer.concat([encoded, Buffer.alloc(1)])), /more follows/)
  }
})

test('damaged bytes are a command or are refused, and take no more memory than there are bytes', () => {
  const random = new Random(7)
  let refused = 0
  for (let round = 0; round < 3_000; round += 1) {
    const encoded = Uint8Array.from(shardCodec.encode(commands[round % commands.length]!)).subarray(0, 200)
    for (let flips = 0; flips <= random.below(3); flips += 1) encoded[random.below(encoded.length)] = random.below(256)
    try {
      shardCodec.decode(encoded)
    } catch (error) {
      assert.equal((error as { code: unknown }).code, 'ERR_AETHER_INDEX_COMMAND')
      refused += 1
    }
  }
  assert.ok(refused > 1_000, `${refused} were refused`)
})

test('kinds and flags that are not known are refused by name', () => {
  assert.throws(() => shardCodec.decode(Uint8Array.of(9)), /kind 9 is unknown/)
  assert.throws(() => shardCodec.decode(Uint8Array.of(1, 128, 0)), /set of flags 128 is unknown/)
  assert.throws(() => shardCodec.decode(Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)), /not whole/)
})

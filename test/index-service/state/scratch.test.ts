/** What calls over a scratch tell of their effects does the same to the shard, later. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { ApplyContext } from '../../../src/consensus/index.ts'
import type { Call } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { bytesOf } from '../../../src/index-service/values/latin1.ts'
import { MapRecords } from '../../support/map-records.ts'

const START_MS = 1_700_000_000_000

function at(index: number, timeMs: number): ApplyContext {
  return { index, timeMs, term: 1 }
}

function callOf(text: string): Call {
  const [name, ...args] = text.split(' ')
  return { name: name!, args: args.map(bytesOf) }
}

function machineWith(...calls: readonly string[]): ShardMachine {
  const machine = new ShardMachine({ records: new MapRecords() })
  machine.apply({ calls: calls.map(callOf) }, at(1, START_MS))
  return machine
}

const STATE = [
  ...['GET text', 'PEXPIRETIME text', 'GET fresh', 'PEXPIRETIME fresh', 'LRANGE list 0 -1', 'SMEMBERS set'],
  ...['ZRANGE sorted 0 -1 WITHSCORES', 'HGETALL hash', 'XRANGE stream - +', 'XPENDING stream group - + 10'],
  ...['XINFO GROUPS stream'],
  ...['EXISTS text fresh list set sorted hash stream copied', 'DBSIZE'],
]

/** Each after the ones before it, in one scratch. */
const programs: readonly (readonly string[])[] = [
  ['SET fresh 1 EX 10', 'SET text 2 KEEPTTL'],
  ['SETEX fresh 10 a', 'PSETEX text 5000 b'],
  ['EXPIRE text 10', 'PEXPIRE list 50000', 'EXPIREAT set 1700000100', 'PERSIST list'],
  ['EXPIRE text 10 GT', 'EXPIRE text 5 LT'],
  ['GETEX text EX 20', 'GETEX text PXAT 1700000055555', 'GETEX none PXAT +1'],
  ['SET text 1 EXAT 1700000033', 'SET text 2 NX', 'SET none 1 XX'],
  ['EXPIRE text -1'],
  ['SPOP set', 'SPOP set 2', 'SPOP none'],
  ['XADD stream * f v', 'XADD stream MAXLEN ~ 100 LIMIT 5 * f v', 'XADD none NOMKSTREAM * f v'],
  ['XREADGROUP GROUP group alice COUNT 1 STREAMS stream >', 'XCLAIM stream group bob 0 1-1'],
  ['XREADGROUP GROUP group alice STREAMS stream >', 'XAUTOCLAIM stream group bob 0 0 COUNT 1', 'XACK stream group 2-1'],
  ['XCLAIM stream group bob 100000 1-1 LASTID 1-5'],
  ['XREADGROUP GROUP group alice STREAMS stream >', 'XDEL stream 1-1', 'XCLAIM stream group bob 100000 1-1 2-1 FORCE'],
  ['INCRBY number 5', 'INCRBYFLOAT number 0.1', 'APPEND text x', 'LPUSH text x'],
  ['LMOVE list list LEFT RIGHT', 'RPOPLPUSH list other', 'LPUSH list z', 'SORT list ALPHA STORE copied'],
  ['ZADD sorted 5 c', 'ZPOPMIN sorted', 'HINCRBY hash n 2', 'HDEL hash f', 'COPY hash copied', 'RENAME text fresh'],
  ['FLUSHDB', 'SET fresh 1'],
  ['DEL text', 'KEYS *', 'SET copied 1', 'DBSIZE'],
]

for (const program of programs)
  test(`${program.join('; ')}`, () => {
    const machine = machineWith(
      ...['SET text a', 'RPUSH list a b c', 'SADD set a b c d e', 'ZADD sorted 1 a 2 b', 'HSET hash f v n 1'],
      ...['XADD stream 1-1 f v', 'XADD stream 2-1 f v', 'XGROUP CREATE stream group 0'],
    )
    const scratch = machine.scratch(START_MS + 1000)
    for (const call of program) scratch.call(callOf(call))
    const expected = STATE.map((call) => scratch.call(callOf(call)))
    const { effects, watched } = scratch
    // Later, and by other chances.
    const answer = machine.apply({ calls: effects, watched }, at(77, START_MS + 1500))
    assert.ok(Array.isArray(answer))
    const state = machine.read(STATE.map(callOf), START_MS + 1000)
    assert.deepEqual(plain(state), plain(expected))
  })

/** How long what is pending is idle depends on the time; sets have no order. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (value instanceof Set) return [...value].map(plain).sort()
  if (value instanceof Map) return [...value].map(plain)
  if (Array.isArray(value)) {
    const list = value.map(plain)
    const isPending = list.length === 4 && (list[1] === 'alice' || list[1] === 'bob')
    return isPending ? [list[0], list[1], list[3]] : list
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
  return value
}

test('a key that is restored expires when it would have', () => {
  const machine = machineWith('SET text a')
  const scratch = machine.scratch(START_MS + 1000)
  const payload = scratch.call(callOf('DUMP text')) as Uint8Array
  scratch.call({ name: 'RESTORE', args: [bytesOf('fresh'), bytesOf('5000'), payload] })
  machine.apply({ calls: scratch.effects, watched: scratch.watched }, at(2, START_MS + 1500))
  assert.deepEqual(machine.read([callOf('PEXPIRETIME fresh')], START_MS), [START_MS + 6000])
})

test('nothing is done if what was touched has changed, even if it was not there', () => {
  for (const other of ['SET text b', 'SET none 1', 'DEL text']) {
    const machine = machineWith('SET text a')
    const scratch = machine.scratch(START_MS)
    scratch.call(callOf('GET none'))
    scratch.call(callOf('APPEND text x'))
    const { effects, watched } = scratch
    machine.apply({ calls: [callOf(other)] }, at(2, START_MS))
    assert.equal(machine.apply({ calls: effects, watched }, at(3, START_MS)), null)
  }
})

test('what only reads has no effect, nor has what is refused', () => {
  const scratch = machineWith('SET text a').scratch(START_MS)
  for (const call of ['GET text', 'LPUSH text x', 'INCR text', 'NONSENSE', 'SPOP none', 'KEYS *'])
    scratch.call(callOf(call))
  assert.deepEqual(scratch.effects, [])
})

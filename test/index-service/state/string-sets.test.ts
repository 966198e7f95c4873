/** Strings that are set together by one call of the addon: the state is the same as if they were set one by one. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { MarkMode } from '../../../src/index-service/memory/use-marks.ts'
import { shardCodec } from '../../../src/index-service/state/shard-codec.ts'
import type { Call } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { latin1Of } from '../../../src/index-service/values/latin1.ts'
import { Random } from '../../../src/runtime/index.ts'
import { stateOf } from '../support/shard-state.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const callOf = (name: string, ...args: string[]): Call => ({ name, args: args.map(bytes) })

/** A shard over a table of its own. One who is told of changes has strings set one by one. */
class Shard implements Disposable {
  readonly table = new RecordTable()
  readonly machine: ShardMachine
  timeMs = 1_700_000_000_000
  index = 0
  /** Calls of the addon, and calls of Redis that they did. */
  sets = 0
  setTogether = 0

  constructor(isHeard: boolean, memoryMax = Number.POSITIVE_INFINITY) {
    const { table } = this
    const setStrings = table.setStrings.bind(table)
    table.setStrings = (...args) => {
      const done = setStrings(...args)
      this.sets += 1
      this.setTogether += done.calls
      return done
    }
    const listeners = isHeard ? { onChange: () => undefined } : {}
    this.machine = new ShardMachine({ records: table, memoryMax, listeners })
  }

  /** As they come out of the log. */
  run(calls: readonly Call[]): readonly Reply[] {
    this.index += 1
    const command = shardCodec.decode(shardCodec.encode({ calls, apart: true }))
    return this.machine.apply(command, { index: this.index, timeMs: this.timeMs, term: 1 }) as readonly Reply[]
  }

  get state(): readonly unknown[] {
    return stateOf(this.machine, this.timeMs)
  }

  [Symbol.dispose](): void {
    this.table.close()
  }
}

function drawCall(random: Random): Call {
  const key = (): string => `key:${random.below(60)}`
  const value = (): string => 'v'.repeat(random.below(6) === 0 ? random.below(3000) : random.below(40))
  switch (random.below(40)) {
    case 0:
      return callOf('DEL', key())
    case 1:
      return callOf('PEXPIRE', key(), String(1 + random.below(50)))
    case 2:
      return callOf('RPUSH', key(), value())
    case 3:
      return callOf('APPEND', key(), value())
    case 4:
      return callOf('SET', key(), value(), 'NX')
    case 5:
      return callOf('MSET', key(), value(), key())
    case 6:
      return callOf('SET', key(), value(), 'PX', '20')
    case 7:
      return callOf('GET', key())
    default:
      break
  }
  if (random.below(3) > 0) return callOf(random.below(2) === 0 ? 'set' : 'SET', key(), value())
  return callOf('mset', ...Array.from({ length: 1 + random.below(8) }, () => [key(), value()]).flat())
}

test('the state, and all replies, are the same as if strings were set one by one', () => {
  for (let seed = 1; seed <= 2; seed += 1) {
    const random = new Random(seed)
    using together = new Shard(false)
    using alone = new Shard(true)
    // Enough for segments to be cleaned.
    for (let round = 0; round < 1600; round += 1) {
      const calls = Array.from({ length: 1 + random.below(60) }, () => drawCall(random))
      const replies = together.run(calls)
      assert.deepEqual(replies, alone.run(calls), `seed ${seed}, round ${round}`)
      assert.equal(together.machine.usedBytes, alone.machine.usedBytes)
      if (round % 100 === 0) assert.deepEqual(together.state, alone.state, `seed ${seed}, round ${round}`)
      together.timeMs += random.below(10)
      alone.timeMs = together.timeMs
    }
    assert.deepEqual(together.state, alone.state)
    assert.ok(together.setTogether > 3000, `${together.setTogether} were set together`)
    assert.equal(alone.sets, 0)
  }
})

test('all strings of a command are set by few calls of the addon, and where none can be, by one', () => {
  using shard = new Shard(false)
  const sets = Array.from({ length: 200 }, (_, at) => callOf('SET', `key:${at}`, 'value'))
  shard.run(sets)
  assert.deepEqual([shard.sets, shard.setTogether], [1, 0])
  shard.run(sets)
  assert.deepEqual([shard.sets, shard.setTogether], [2, 200])
  const values = shard.run([callOf('MGET', 'key:0', 'key:199')])[0] as readonly Uint8Array[]
  assert.deepEqual(
    values.map((value) => latin1Of(value)),
    ['value', 'value'],
  )
})

test('new keys are added together, but for tuples', () => {
  using shard = new Shard(false)
  using alone = new Shard(true)
  const sets = Array.from({ length: 2000 }, (_, at) => callOf('SET', `${at % 10 === 7 ? '\0' : ''}key:${at}`, 'value'))
  for (let at = 0; at < sets.length; at += 100)
    assert.deepEqual(shard.run(sets.slice(at, at + 100)), alone.run(sets.slice(at, at + 100)))
  const pairs = Array.from({ length: 60 }, (_, at) => [at === 50 ? '\0' : `other:${at}`, 'of many']).flat()
  assert.deepEqual(shard.run([callOf('MSET', ...pairs)]), alone.run([callOf('MSET', ...pairs)]))
  assert.ok(shard.setTogether > 1500, `${shard.setTogether} were set together`)
  assert.deepEqual(shard.state, alone.state)
  assert.deepEqual(shard.table.figures.liveBytes, alone.table.figures.liveBytes)
})

test('where memory may be used up meanwhile, each is looked at by itself', () => {
  using shard = new Shard(false, 20_000)
  const fill = Array.from({ length: 100 }, (_, at) => callOf('SET', `key:${at}`, 'x'.repeat(20)))
  shard.run(fill)
  shard.setTogether = 0
  const replies = shard.run(fill.map(({ args }) => ({ name: 'SET', args: [args[0]!, bytes('y'.repeat(400))] })))
  assert.equal(shard.setTogether, 0)
  const refused = replies.filter((reply) => typeof reply === 'object' && reply !== null && 'fault' in reply)
  assert.ok(refused.length > 0 && refused.length < 100, `${refused.length} were refused`)
})

test('a key that is set counts as used', () => {
  using shard = new Shard(false)
  shard.table.mark(MarkMode.Recency, shard.timeMs)
  const sets = Array.from({ length: 20 }, (_, at) => callOf('SET', `key:${at}`, 'value'))
  shard.run(sets)
  shard.timeMs += 60_000
  shard.run(sets.slice(0, 10))
  assert.equal(shard.setTogether, 10)
  const idle = (key: string): Reply => shard.machine.read([callOf('OBJECT', 'IDLETIME', key)], shard.timeMs)[0]!
  assert.deepEqual([idle('key:3'), idle('key:13')], [0, 60])
  // Also after a look that does not count.
  shard.timeMs += 60_000
  shard.run([callOf('TTL', 'key:0'), ...sets.slice(10)])
  assert.equal(shard.setTogether, 20)
  assert.deepEqual([idle('key:3'), idle('key:13')], [60, 0])
})

import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { slotOf } from '../../../src/index-service/keys/slot.ts'
import { RECORD_BYTES_MAX } from '../../../src/index-service/memory/layout.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { callIn, LoneMachine } from '../support/differential.ts'
import { DATABASES, Picker } from '../support/program-parts.ts'
import { drawCommand, drawDatabase } from '../support/programs.ts'
import { shown } from '../support/same-reply.ts'

const text = (reply: Reply): string => shown(reply, false)

/** A machine over memory that others could read. */
function withTable(use: (machine: ShardMachine, run: (db: number, ...command: string[]) => Reply) => void): void {
  const table = new RecordTable()
  const machine = new ShardMachine({ records: table })
  let index = 0
  try {
    use(machine, (db, ...command) => {
      index += 1
      const answer = machine.apply({ calls: [callIn(db, command)] }, { index, timeMs: 1_700_000_000_000, term: 1 })
      return (answer as readonly Reply[])[0]!
    })
  } finally {
    table.close()
  }
}

test('what MEMORY USAGE says of all keys together is what the shard uses', () => {
  withTable((machine, run) => {
    const pick = new Picker(11)
    for (let done = 0; done < 3_000; done += 1) run(drawDatabase(pick), ...drawCommand(pick))
    let [total, keys] = [0, 0]
    for (let db = 0; db < DATABASES; db += 1)
      for (const name of run(db, 'KEYS', '*') as Uint8Array[]) {
        total += run(db, 'MEMORY', 'USAGE', Buffer.from(name).toString('latin1')) as number
        keys += 1
      }
    assert.ok(keys > 10)
    // Each is rounded up to whole bytes.
    assert.ok(total >= machine.usedBytes && total - machine.usedBytes <= keys, `${total} of ${machine.usedBytes}`)
    assert.equal(run(0, 'MEMORY', 'USAGE', 'none'), null)
  })
})

test('the keys of a slot are counted and told, in the database of the call', () => {
  const lone = new LoneMachine()
  const slot = String(slotOf(Buffer.from('user')))
  for (const name of ['c', 'a', 'b']) lone.run('SET', `{user}${name}`, '1')
  lone.run('SET', 'other', '1')
  lone.runIn(1, 'SET', '{user}d', '1')
  assert.equal(lone.run('COUNTKEYSINSLOT', slot), 3)
  assert.equal(text(lone.run('GETKEYSINSLOT', slot, '2')), '["{user}a","{user}b"]')
  assert.equal(text(lone.runIn(1, 'GETKEYSINSLOT', slot, '9')), '["{user}d"]')
  assert.equal(text(lone.run('COUNTKEYSINSLOT', '16384')), '-ERR Invalid slot')
  assert.equal(text(lone.run('GETKEYSINSLOT', '-1', '1')), '-ERR Invalid slot or number of keys')
  assert.equal(text(lone.run('GETKEYSINSLOT', '1', '-1')), '-ERR Invalid slot or number of keys')
  assert.equal(text(lone.run('COUNTKEYSINSLOT', 'x')), '-ERR value is not an integer or out of range')
})

test('what would not fit into a record is refused, whatever makes it long, and nothing is harmed', () => {
  withTable((machine, run) => {
    const [long, tooLong, longKey] = ['x'.repeat(4 * 2 ** 20), 'x'.repeat(4 * 2 ** 20 + 1), 'k'.repeat(65_537)]
    const exceeds = '-ERR string exceeds maximum allowed size (proto-max-bulk-len)'
    assert.equal(run(0, 'SET', 'a', long), 'OK')
    assert.equal(run(0, 'RENAME', 'a', 'k'.repeat(65_536)), 'OK')
    for (const command of [
      ['SET', 'a', tooLong],
      ['SETRANGE', 'a', String(4 * 2 ** 20), 'x'],
      ['APPEND', 'k'.repeat(65_536), 'x'],
      ['HSET', 'h', long, long],
      ['HSET', 'h', 'f', tooLong],
      ['HMSET', 'h', 'f', 'v', long, long],
      ['MSET', 'a', '1', 'b', tooLong],
    ])
      assert.equal(text(run(0, ...command)), exceeds, command[0])
    const offset = '-ERR bit offset is not an integer or out of range'
    assert.equal(text(run(0, 'SETBIT', 'b', String(RECORD_BYTES_MAX * 8), '1')), offset)
    assert.equal(text(run(0, 'SETBIT', 'b', String(2 ** 25), '1')), offset)
    assert.equal(text(run(0, 'BITFIELD', 'b', 'SET', 'u8', String(2 ** 25), '1')), offset)
    assert.equal(text(run(0, 'BITFIELD', 'b', 'SET', 'u8', String(2 ** 25 - 1), '1')), exceeds)
    assert.equal(run(0, 'SETBIT', 'b', String(2 ** 25 - 1), '1'), 0)
    for (const command of [
      ['SET', longKey, '1'],
      ['RENAME', 'b', longKey],
      ['MSET', 'a', '1', longKey, '1'],
      ['SORT', 'list', 'STORE', longKey],
    ])
      assert.equal(text(run(0, ...command)), '-ERR a key has at most 65536 bytes', command[0])
    assert.equal(run(0, 'DBSIZE'), 2)
    assert.equal(machine.size, 2)
  })
})

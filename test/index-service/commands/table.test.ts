import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { commandNamed, commandNames } from '../../../src/index-service/commands/table.ts'
import { callOf, withoutRedis, withRedis } from '../support/differential.ts'

/** Commands that Redis does not have. */
const OWN = new Set(['range', 'countkeysinslot', 'getkeysinslot'])
const calls: readonly (readonly string[])[] = [
  ['GET', 'a'],
  ['SET', 'a', '1', 'EX', '5'],
  ['MSET', 'a', '1', 'b', '2', 'c', '3'],
  ['DEL', 'a', 'b'],
  ['LCS', 'a', 'b', 'LEN'],
  ['BITOP', 'AND', 't', 'a', 'b'],
  ['RENAME', 'a', 'b'],
  ['LMOVE', 'a', 'b', 'LEFT', 'LEFT'],
  ['LMPOP', '2', 'a', 'b', 'LEFT', 'COUNT', '3'],
  ['BLPOP', 'a', 'b', 'c', '0'],
  ['BLMPOP', '0', '2', 'a', 'b', 'LEFT'],
  ['BRPOPLPUSH', 'a', 'b', '0'],
  ['SINTERCARD', '2', 'a', 'b', 'LIMIT', '1'],
  ['SUNIONSTORE', 't', 'a', 'b'],
  ['ZUNION', '2', 'a', 'b', 'WEIGHTS', '1', '2'],
  ['ZINTERSTORE', 't', '2', 'a', 'b', 'AGGREGATE', 'MIN'],
  ['ZRANGESTORE', 't', 'a', '0', '-1'],
  ['BZMPOP', '0', '1', 'a', 'MIN'],
  ['BZPOPMAX', 'a', 'b', '0'],
  ['XREAD', 'COUNT', '2', 'STREAMS', 'a', 'b', '0', '0'],
  ['XREADGROUP', 'GROUP', 'streams', 'c', 'STREAMS', 'a', '>'],
  ['XGROUP', 'CREATE', 'a', 'g', '$'],
  ['XINFO', 'STREAM', 'a'],
  ['OBJECT', 'ENCODING', 'a'],
  ['SORT', 'a', 'STORE', 'b'],
  ['MOVE', 'a', '1'],
  ['COPY', 'a', 'b', 'DB', '1'],
  ['DUMP', 'a'],
  ['RESTORE', 'a', '0', 'x', 'REPLACE'],
  ['MEMORY', 'USAGE', 'a'],
]

test('a command is found in any case', () => {
  assert.equal(commandNamed('zAdd'), commandNamed('ZADD'))
  assert.equal(commandNamed('zadd')?.name, 'zadd')
  assert.equal(commandNamed('nope'), undefined)
})

test('arity, and what a command does to keys and to memory, are as redis-server has them', {
  skip: withoutRedis,
}, async () => {
  await withRedis(async (client) => {
    const names = commandNames().filter((name) => !OWN.has(name))
    const answers = await client.run(names.map((name) => ['COMMAND', 'INFO', name]))
    for (const [number, name] of names.entries()) {
      const [info] = answers[number] as readonly Reply[]
      const [, arity, flags] = info as readonly [Reply, number, ReadonlySet<string>]
      const spec = commandNamed(name)!
      assert.equal(spec.arity, arity, name)
      // Those with subcommands have the flags there.
      if (flags.size === 0 || name === 'xgroup') continue
      assert.equal(spec.isWrite, flags.has('write'), `${name} writes`)
      assert.equal(spec.needsMemory, flags.has('denyoom'), `${name} needs memory`)
      assert.equal(spec.blocking !== undefined, flags.has('blocking'), `${name} waits`)
    }
  })
})

test('keys are where redis-server finds them', { skip: withoutRedis }, async () => {
  await withRedis(async (client) => {
    const answers = await client.run(calls.map((call) => ['COMMAND', 'GETKEYS', ...call]))
    for (const [number, call] of calls.entries()) {
      const { name, args } = callOf(call)
      const keys = commandNamed(name)!
        .keys(args)
        .map((at) => Buffer.from(args[at]!).toString())
      const theirs = (answers[number] as readonly Uint8Array[]).map((key) => Buffer.from(key).toString())
      assert.deepEqual(keys.sort(), theirs.sort(), call.join(' '))
    }
  })
})

/** Scripts that end the engine of Lua, and those of others meanwhile. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor } from './support/door.ts'

useRuntimeDirectory()

/** What is thrown in it is not of Lua. */
const breaking = "return struct.unpack('f', 'xxxx')"

test('a script that ends the engine leaves others as they are, but those of its own transaction', async (t) => {
  t.mock.method(Buffer.prototype, 'readFloatLE', () => {
    throw new Error('broken')
  })
  await using door = await openDoor()
  const [one, ...others] = await Promise.all(Array.from({ length: 4 }, () => door.connect()))
  await one!.ask('MULTI')
  for (const script of ['return 1', breaking, 'return 2', '#!lua\nreturn 3']) await one!.ask('EVAL', script, '0')
  const answers = [one!.ask('EXEC'), ...others.map((client) => client.ask('EVAL', '#!lua\nreturn 1', '0'))]
  const ended = '-ERR the script before it has ended Lua; send this one again'
  assert.deepEqual(await Promise.all(answers), [[1, '-ERR broken', ended, ended], 1, 1, 1])
  assert.equal(await one!.ask('EVAL', 'return 4', '0'), 4)
})

test('struct takes no offset that is no number', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  for (const format of ['d', 'i4', 's', 'x'])
    assert.match(
      String(await client.ask('EVAL', `return struct.unpack('${format}', 'xxxxxxxx', 0/0)`, '0')),
      /offset must be 1 or greater/,
    )
})

test('what would take all of the memory is not made', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const texts = "local text, t = string.rep('x', 2^20), {} for at = 1, 140 do t[at] = text end "
  for (const script of [
    `${texts} return #cjson.encode({t, t})`,
    'cjson.encode_sparse_array(true, 0) return #cjson.encode({[2^28] = 1})',
    `${texts} return #cmsgpack.pack({t, t})`,
    `${texts} return #struct.pack(string.rep('s', 140), unpack(t))`,
  ])
    assert.match(String(await client.ask('EVAL', script, '0')), /Cannot make more than 134217728 bytes/)
})

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { defineService, text, type, unary } from '../../src/rpc/index.ts'
import * as structures from '../../src/structures/index.ts'
import { serverPair } from '../rpc/support.ts'

const echo = defineService({
  name: 'echo',
  methods: { same: unary({ request: type<string>(), response: type<string>(), codec: text }) },
})

test('text goes through a call as it is, and nothing else does', async () => {
  await using pair = serverPair((server) => server.serve(echo, { same: (value) => value }))
  const client = pair.channel.client(echo)
  assert.equal(await client.same('\ufeffgrün'), '\ufeffgrün')
  await assert.rejects(client.same(1 as never), { argument: 'value' })
})

test('a map takes the codec, and refuses another one under the same name', async () => {
  await using space = await open(`text-${process.pid}`)
  await using shared = await structures.openStructures(space, { size: '1MiB' })
  const names = await shared.map('names', { codec: structures.text })
  names.setSync(1, 'one')
  assert.equal(names.getSync(1), 'one')
  await assert.rejects(shared.map('names', { codec: structures.json }), /made with codec text, opened with codec json/)
})

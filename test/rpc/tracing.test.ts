import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../src/profiling/index.ts'
import { createServer, defineService, openChannel, type, unary } from '../../src/rpc/index.ts'

const channels = ['aether:rpc', 'aether:messaging', 'aether:cm']
const heard: TraceMessage[] = []
const listener = (message: unknown): void => void heard.push(message as TraceMessage)
before(() => {
  for (const name of channels) subscribe(name, listener)
  setTraceLevel(TraceLevel.Trace)
})
after(() => {
  for (const name of channels) unsubscribe(name, listener)
  setTraceLevel(TraceLevel.Info)
})

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const vault = defineService({
  name: 'vault',
  methods: {
    open: unary({ request: type<string>(), response: type<string>() }),
    slip: unary({ request: type<string>() }),
  },
})

test(
  'calls at both ends with their codes, the link and the connection are told; what is said, keys and metadata are not',
  options,
  async () => {
    {
      await using server = createServer().serve(vault, {
        open: async (text) => `xyzzy-answer ${text}`,
        slip: () => {
          throw new Error('xyzzy-error')
        },
      })
      const { port } = await server.listen({ device: 'shm0', address: '127.0.0.1' })
      await using channel = openChannel({ device: 'shm0', address: '127.0.0.1', port })
      const client = channel.client(vault)
      await client.open('xyzzy-request', { metadata: { token: 'xyzzy-token' }, idempotencyKey: 'xyzzy-key' })
      await assert.rejects(client.slip('xyzzy-request'))
    }
    const told = (channel: string, type: string): TraceMessage[] =>
      heard.filter((message) => message.channel === channel && message.type === type)
    const calls = (type: string): unknown[][] =>
      told('rpc', type).map(({ fields, slice }) => [fields['method'], fields['code'], slice?.phase])
    assert.deepEqual(calls('call'), [
      ['vault/open', undefined, 'begin'],
      ['vault/slip', undefined, 'begin'],
    ])
    assert.deepEqual(calls('serve'), calls('call'))
    assert.deepEqual(calls('returned'), [
      ['vault/open', 'OK', 'end'],
      ['vault/slip', 'ERR_AETHER_RPC_HANDLER', 'end'],
    ])
    assert.deepEqual(calls('answered'), [
      ['vault/open', 'OK', 'end'],
      ['vault/slip', 'Handler', 'end'],
    ])
    // Each slice that begins ends, under its own number.
    const ids = (phase: string): unknown[] =>
      heard
        .flatMap(({ slice }) => (slice?.phase === phase && 'id' in slice ? [`${slice.track} ${slice.id}`] : []))
        .sort()
    assert.deepEqual(ids('begin'), ids('end'))
    for (const type of ['requested', 'connecting', 'accepting', 'connected', 'ended'])
      assert.ok(told('cm', type).length > 0, type)
    for (const type of ['sent', 'delivered', 'ended']) assert.ok(told('messaging', type).length > 0, type)
    const text = JSON.stringify(heard, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    assert.doesNotMatch(text, /xyzzy/)
  },
)

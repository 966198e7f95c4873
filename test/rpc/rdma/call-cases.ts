import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  defineService,
  type RemoteSource,
  type RemoteTarget,
  rdmaCall,
  type Server,
  type,
} from '../../../src/rpc/index.ts'
import { rejection } from '../support.ts'
import type { Ground } from './pairs.ts'

const store = defineService({
  name: 'store',
  methods: {
    sum: rdmaCall({ buffers: 'source', response: type<number>() }),
    fill: rdmaCall({ buffers: 'target', request: type<{ value: number; offset?: number; length?: number }>() }),
    invert: rdmaCall({ buffers: 'both' }),
    beyond: rdmaCall({ buffers: 'both', request: type<string>(), response: type<string>() }),
  },
})

type Attempt = (source: RemoteSource, target: RemoteTarget, own: Uint8Array) => Promise<void>

const attempts: Readonly<Record<string, Attempt>> = {
  'read behind the end': (source, _, own) => source.read(own, 1, source.length),
  'read before the start': (source, _, own) => source.read(own, -1, 4),
  'read more than there is room for': (source, _, own) => source.read(own.subarray(0, 3), 0, 4),
  'write behind the end': (_, target, own) => target.write(own, target.length - 3, 4),
  'write nothing': (_, target, own) => target.write(own, 0, 0),
  'write half a byte': (_, target, own) => target.write(own, 0.5, 4),
}

function serve(server: Server): void {
  server.serve(store, {
    async sum(_, { source }) {
      const bytes = new Uint8Array(source.length)
      await source.read(bytes)
      return bytes.reduce((sum, byte) => sum + byte, 0)
    },
    async fill({ value, offset = 0, length }, { target }) {
      await target.write(new Uint8Array(length ?? target.length).fill(value), offset)
    },
    async invert(_, context) {
      const { source, target } = context
      await using own = context.allocate(source.length)
      // In three unequal parts, of which none waits for another.
      const third = Math.floor(source.length / 3)
      const parts = [0, third, 2 * third + 1, source.length]
      await Promise.all(
        [0, 1, 2].map((part) => {
          const offset = parts[part]!
          const length = parts[part + 1]! - offset
          return source.read({ buffer: own, offset, length }, offset)
        }),
      )
      for (let at = 0; at < own.length; at += 1) own.bytes[at] = 255 - own.bytes[at]!
      await target.write(own)
    },
    async beyond(what, { source, target }) {
      const error = await rejection(attempts[what]!(source, target, new Uint8Array(source.length)))
      return (error as { code: string }).code
    },
  })
}

/** Calls whose handlers read from, and write into, what they name, over one kind of connection. */
export async function callCases(t: TestContext, ground: Ground): Promise<void> {
  await using pair = await ground.open(serve)
  const client = pair.channel.client(store)
  await using buffer = await pair.channel.allocate(200_000)
  const { bytes } = buffer

  await t.test('the handler reads what the call names, many times over one buffer', async () => {
    for (const [offset, length] of [
      [0, 200_000],
      [17, 5000],
      [199_999, 1],
    ] as const) {
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = at * 7 + length
      const expected = bytes.subarray(offset, offset + length).reduce((sum, byte) => sum + byte, 0)
      assert.equal(await client.sum(undefined, { source: { buffer, offset, length } }), expected)
    }
  })

  await t.test('the handler writes what the call names, and nothing beside it', async () => {
    bytes.fill(1)
    await client.fill({ value: 9, offset: 3, length: 10 }, { target: { buffer, offset: 1000, length: 500 } })
    assert.deepEqual(bytes, new Uint8Array(200_000).fill(1).fill(9, 1003, 1013))
    await client.fill({ value: 5 }, { target: buffer })
    assert.ok(bytes.every((byte) => byte === 5))
  })

  await t.test('a buffer is source and target of one call, and of calls at a time', async () => {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = at
    await client.invert(undefined, { source: buffer, target: buffer })
    assert.ok(bytes.every((byte, at) => byte === 255 - (at & 255)))
    const ranges = Array.from({ length: 20 }, (_, index) => ({ buffer, offset: index * 10_000, length: 9000 }))
    await Promise.all(ranges.map((target, value) => client.fill({ value }, { target })))
    for (const [value, { offset }] of ranges.entries())
      assert.ok(bytes.subarray(offset, offset + 9000).every((byte) => byte === value))
    assert.equal(buffer.uses, 0)
  })

  await t.test('memory of the program is lent where it lies', async () => {
    const own = new Uint8Array(4096)
    const registered = await pair.channel.register(own)
    await client.fill({ value: 3 }, { target: registered })
    assert.ok(own.every((byte) => byte === 3))
    await registered.release()
  })

  await t.test('a handler that goes beyond what the call names is refused before anything is sent', async () => {
    bytes.fill(1)
    for (const what of Object.keys(attempts)) {
      const part = { buffer, offset: 64, length: 128 }
      assert.equal(await client.beyond(what, { source: part, target: part }), 'ERR_AETHER_INVALID_ARGUMENT', what)
    }
    assert.ok(bytes.every((byte) => byte === 1))
  })

  await t.test('a long transfer comes whole', async () => {
    const { longBytes } = ground
    await using large = await pair.channel.allocate(longBytes)
    for (let at = 0; at < longBytes; at += 1) large.bytes[at] = at * 13
    await client.invert(undefined, { source: large, target: large })
    assert.ok(large.bytes.every((byte, at) => byte === 255 - ((at * 13) & 255)))
  })

  await t.test('a part that cannot be lent is refused before the call leaves', async () => {
    const wrong = [
      { source: { buffer, offset: 199_999, length: 2 } },
      { source: { buffer, length: 0 } },
      { source: { buffer: bytes as never } },
      { source: buffer, target: buffer },
      {},
    ]
    for (const options of wrong) {
      const error = await rejection(client.sum(undefined, options as never))
      assert.equal((error as { code: string }).code, 'ERR_AETHER_INVALID_ARGUMENT', JSON.stringify(options))
    }
    assert.equal(buffer.uses, 0)
  })

  await t.test(
    'a released buffer serves no further call, and is released when the last call that has it has ended',
    async () => {
      const own = await pair.channel.allocate(64)
      const running = client.fill({ value: 1 }, { target: own })
      const released = own.release()
      const error = await rejection(client.fill({ value: 2 }, { target: own }))
      assert.equal((error as { code: string }).code, 'ERR_AETHER_CLOSED')
      await running
      await released
      await own.release()
    },
  )
}

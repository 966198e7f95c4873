import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineService, openChannel, RpcError, ServiceError, type, unary } from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'

class Hidden extends Error {
  override get message(): string {
    throw new Error('no message')
  }
}

/** What handlers throw, and what its caller is told. */
const thrown: readonly (readonly [name: string, thrown: unknown, told: RegExp])[] = [
  ['an error', new RangeError('too far'), /RangeError: too far$/],
  ['a text', 'a text', /a text$/],
  ['nothing', undefined, /undefined$/],
  ['a symbol', Symbol('odd'), /Symbol\(odd\)$/],
  ['an object without a text', Object.create(null), /a value without a text was thrown$/],
  ['an error whose message throws', new Hidden(), /a value without a text was thrown$/],
  // The constructor refuses it.
  ['a reason that is no text', Object.assign(new ServiceError('odd', undefined, 'odd'), { reason: () => 1 }), /odd$/],
  ['details that do not travel', new ServiceError('odd', () => 1), /odd \(its details cannot be sent: .*\)$/],
]

const service = defineService({
  name: 'throwing',
  methods: { fails: unary({ request: type<number>(), response: type<string>() }) },
})

test('whatever a handler throws, its caller is told, and the server goes on for the others', async () => {
  const [mine, theirs] = memoryLinks()
  await using server = createServer().serve(service, {
    fails(index) {
      const found = thrown[index]
      if (found === undefined) return 'well'
      throw found[1]
    },
  })
  server.accept(theirs)
  await using channel = openChannel(mine)
  const client = channel.client(service)
  for (const [index, [name, what, told]] of thrown.entries()) {
    const error = await client.fails(index).then(
      () => assert.fail(`${name} was no failure`),
      (error: unknown) => error,
    )
    assert.ok(what instanceof ServiceError ? error instanceof ServiceError : error instanceof RpcError, name)
    assert.match((error as Error).message, told, name)
  }
  assert.equal(await client.fails(-1), 'well')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { type CallContext, defineService, RpcError, serverStream, type, unary } from '../../src/rpc/index.ts'
import { deferred, rejection, serverPair, until } from './support.ts'

const mail = defineService({
  name: 'mail',
  errors: { lost: type<string>() },
  methods: {
    now: unary({ request: type<string>(), response: type<string>() }),
    later: unary({ request: type<string>(), response: type<string>() }),
    fails: unary({ request: type<string>(), response: type<string>() }),
    all: serverStream({ request: type<string>(), response: type<number>() }),
    wait: unary({ response: type<string>() }),
  },
})

/** Too long for any link. */
const TOO_LONG = 'x'.repeat(9000)
/** What a program without types may give. */
const NO_TEXT = 3 as unknown as string

/** Each method answers with the metadata that it is asked for. */
function mailPair(ringBytes: number) {
  const gate = deferred<string>()
  const errors: unknown[] = []
  const tell = (context: CallContext, text: string): void => {
    context.answerMetadata = { text }
  }
  const pair = serverPair(
    (server) =>
      server.serve(mail, {
        now: (text, context) => {
          tell(context, text)
          return 'now'
        },
        async later(text, context) {
          tell(context, text)
          await null
          return 'later'
        },
        async fails(text, context) {
          tell(context, text)
          await null
          throw mail.error('lost', 'y'.repeat(5000))
        },
        async *all(text, context) {
          tell(context, text)
          yield 1
        },
        wait: () => gate.promise,
      }),
    { links: { ringBytes }, server: { onHandlerError: (error) => errors.push(error) } },
  )
  return Object.assign(pair, { gate, errors, client: pair.channel.client(mail) })
}

async function take(stream: AsyncIterable<number>, into: number[]): Promise<void> {
  for await (const item of stream) into.push(item)
}

function assertInvalid(error: unknown, message: RegExp): void {
  assert.ok(error instanceof RpcError, String(error))
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_INVALID_RESPONSE', 'failed'])
  assert.match(error.message, message)
}

test('a stream whose last metadata cannot travel fails as an answer does, is told of, and is counted once', async () => {
  await using pair = mailPair(65_536)
  const waiting = pair.client.wait()
  await until(() => pair.server.active === 1)
  for (const [text, message] of [
    [NO_TEXT, /the answer cannot be sent: metadata is an object whose values are texts/],
    [TOO_LONG, /the answer cannot be sent: metadata takes 8192 bytes of JSON/],
  ] as const) {
    const items: number[] = []
    assertInvalid(await rejection(take(pair.client.all(text), items)), message)
    assert.deepEqual(items, [1])
    assert.equal(pair.server.active, 1, 'the other call still runs, and nothing else')
  }
  assert.equal(pair.errors.length, 2)
  const drained = pair.server.drain({ timeoutMs: 600_000 })
  pair.gate.resolve('done')
  assert.equal(await waiting, 'done')
  await drained
})

import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type CallContext,
  createServer,
  defineService,
  openChannel,
  RpcError,
  serverStream,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { deferred, PATIENT, rejection, serverPair, until } from './support.ts'

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

/** Too long for the smallest rings, and for no others. */
const LONG = 'x'.repeat(1000)
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
    [NO_TEXT, /the answer cannot be sent: metadata must be an object whose values are strings/],
    [TOO_LONG, /the answer cannot be sent: metadata can have at most 8192 bytes of JSON/],
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

test('metadata too long for the rings of this link fail an answer and are left out of a failure; the server lives on', async () => {
  await using pair = mailPair(1024)
  const { client } = pair
  const isTooLong = /the answer cannot be sent: \d+ bytes beside the body are too many for this link/
  assertInvalid(await rejection(client.now(LONG)), isTooLong)
  assertInvalid(await rejection(client.later(LONG)), isTooLong)
  const items: number[] = []
  assertInvalid(await rejection(take(client.all(LONG), items)), isTooLong)
  assert.deepEqual(items, [1])
  assert.equal(pair.errors.length, 3)
  let told = 0
  const onMetadata = (): void => {
    told += 1
  }
  const failure = await rejection(client.fails(LONG, { onMetadata }))
  assert.ok(mail.isError(failure, 'lost'), String(failure))
  assert.equal(failure.details.length, 5000)
  assert.equal(told, 0)
  assert.ok(mail.isError(await rejection(client.fails('short', { onMetadata })), 'lost'))
  assert.equal(await client.later('short', { onMetadata }), 'later')
  await take(client.all('short', { onMetadata }), items)
  assert.equal(told, 3)
  assert.equal(pair.server.active, 0)
})

test('a kept answer goes to whom its metadata reach: whose link is too small for them hears that', async () => {
  const gate = deferred()
  let runs = 0
  const order = async (context: CallContext): Promise<void> => {
    runs += 1
    context.answerMetadata = { text: LONG }
    await gate.promise
  }
  await using server = createServer({ keepAliveMs: Infinity }).serve(mail, {
    now: () => '',
    async later(_, context) {
      await order(context)
      return 'kept'
    },
    async fails(_, context) {
      await order(context)
      throw mail.error('lost', 'kept')
    },
    async *all() {},
    wait: () => '',
  })
  const connect = (ringBytes: number) => {
    const [mine, theirs] = memoryLinks({ ringBytes })
    server.accept(theirs)
    return openChannel(mine, PATIENT)
  }
  await using large = connect(65_536)
  await using small = connect(1024)
  await using another = connect(65_536)
  const [ours, theirs, others] = [large.client(mail), small.client(mail), another.client(mail)]
  const [answer, failure] = [{ idempotencyKey: 'answer' }, { idempotencyKey: 'failure' }]
  const first = [ours.later('', answer), rejection(ours.fails('', failure))]
  await until(() => runs === 2)
  const second = [rejection(theirs.later('', answer)), rejection(theirs.fails('', failure))]
  const third = others.later('', answer)
  await Promise.all([small.health(), another.health()])
  gate.resolve()
  assert.equal(await first[0], 'kept')
  assert.ok(mail.isError(await first[1], 'lost'))
  const isTooLong = /the answer cannot be sent: its metadata are too long for this link/
  assertInvalid(await second[0], isTooLong)
  assert.ok(mail.isError(await second[1], 'lost'))
  assert.equal(await third, 'kept', 'whoever waits beside them hears it all the same')
  assertInvalid(await rejection(theirs.later('', answer)), isTooLong)
  assert.ok(mail.isError(await rejection(theirs.fails('', failure)), 'lost'))
  assert.equal(runs, 2)
  assert.equal(await ours.later('', answer), 'kept')
  await small.health()
})

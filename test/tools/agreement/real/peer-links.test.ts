/** Who may say what to a process: it is connected to each other process once, and to no one else. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { connectEndpoint, type Endpoint, type Message } from '../../../../src/messaging/index.ts'
import { makeKeys, PrivateKey, PublicKeys } from '../../../../tools/agreement/real/identity.ts'
import { PeerLinks } from '../../../../tools/agreement/real/peer-links.ts'

const place = { device: 'tcp-lo', address: '127.0.0.1' } as const
const PROCESSES = 3

/** Process 0 with its links; all others are scripts. */
class LinksFixture implements Disposable {
  readonly heard: unknown[] = []
  readonly #pairs = Array.from({ length: PROCESSES }, () => makeKeys())
  readonly #endpoints: Endpoint[] = []
  readonly links: PeerLinks = new PeerLinks(
    0,
    PROCESSES,
    this.keyOf(0),
    new PublicKeys(this.#pairs.map(({ publicKey }) => publicKey)),
    { receive: (from, { message }) => this.heard.push([from, message]), lost: (process) => this.heard.push([process]) },
  )
  isComplete = false
  #port = 0

  async listen(): Promise<this> {
    this.#port = await this.links.listen(place)
    void this.links.connect([]).then(() => {
      this.isComplete = true
    })
    return this
  }

  keyOf(process: number): PrivateKey {
    return new PrivateKey(this.#pairs[process]!.privateKey)
  }

  /** A connection, and what process 0 would have signed on it. */
  async wire(): Promise<{ endpoint: Endpoint; messages: AsyncGenerator<Message>; challenge: string }> {
    const endpoint = await connectEndpoint({ ...place, port: this.#port })
    this.#endpoints.push(endpoint)
    const messages = endpoint.messages()
    const { value } = await messages.next()
    const { challenge } = JSON.parse(Buffer.from(value!.data).toString()) as { challenge: string }
    return { endpoint, messages, challenge }
  }

  /** One that says it is that process, by the key of another if it likes. */
  async enter(process: unknown, keyOf: number): Promise<Endpoint> {
    const { endpoint, challenge } = await this.wire()
    say(endpoint, { say: 'me', process, signature: this.keyOf(keyOf).signConnection(challenge, 'process 0') })
    return endpoint
  }

  [Symbol.dispose](): void {
    for (const endpoint of this.#endpoints) endpoint.destroy()
    this.links[Symbol.dispose]()
  }
}

function say(endpoint: Endpoint, what: unknown): void {
  endpoint.send(Buffer.from(typeof what === 'string' ? what : JSON.stringify(what))).catch(() => undefined)
}

const note = (message: unknown) => ({ say: 'message', note: { round: 0, sentAt: 1, message } })

test('a process counts once, by the name that is its own: the others are still waited for', async () => {
  using fixture = await new LinksFixture().listen()
  const liar = await fixture.enter(2, 2)
  for (const name of [2, '2', [2], 0, 1, '1', -1, null]) await (await fixture.enter(name, 2)).ended
  assert.ok(liar.open)
  assert.equal(fixture.isComplete, false)
  const other = await fixture.enter(1, 1)
  say(other, note('a'))
  say(liar, note('b'))
  while (fixture.heard.length < 2) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(fixture.isComplete, true)
  assert.deepEqual(fixture.heard.sort(), [
    [1, 'a'],
    [2, 'b'],
  ])
})

test('what is no message ends the connection; one that has not shown who it is is not heard', async () => {
  using fixture = await new LinksFixture().listen()
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  const nonsense: readonly unknown[] = [
    '{',
    'null',
    deep,
    { say: 'who' },
    { say: 'forget' },
    { say: 'message' },
    { say: 'message', note: null },
    { say: 'message', note: { round: 0, sentAt: 'now', message: 1 } },
    { say: 'message', note: { round: 0.5, sentAt: 1, message: 1 } },
    { say: 'message', note: { round: 0, sentAt: 1 } },
    `{"say":"message","note":{"round":0,"sentAt":1,"message":${deep}}}`,
  ]
  for (const what of nonsense) {
    const liar = await fixture.enter(1, 1)
    say(liar, what)
    await liar.ended
  }
  const { endpoint } = await fixture.wire()
  say(endpoint, note('from no one'))
  say(endpoint, '{')
  await endpoint.ended
  assert.deepEqual(
    fixture.heard.filter((heard) => (heard as unknown[]).length > 1),
    [],
  )
})

test('a process signs one challenge for one other end, and for none that it does not know', async () => {
  using fixture = await new LinksFixture().listen()
  const stranger = await fixture.wire()
  say(stranger.endpoint, { say: 'who', challenge: 'c' })
  await stranger.endpoint.ended
  const liar = await fixture.wire()
  say(liar.endpoint, { say: 'me', process: 1, signature: fixture.keyOf(1).signConnection(liar.challenge, 'process 0') })
  say(liar.endpoint, { say: 'who', challenge: 'process 2: c' })
  const { value } = await liar.messages.next()
  const { signature } = JSON.parse(Buffer.from(value!.data).toString()) as { signature: string }
  assert.equal(signature, fixture.keyOf(0).signConnection('process 2: c', 'process 1'))
  say(liar.endpoint, { say: 'who', challenge: 'more' })
  await liar.endpoint.ended
})

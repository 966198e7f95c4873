import assert from 'node:assert/strict'
import test from 'node:test'
import type { VerbsLink } from '../../../src/messaging/index.ts'
import { encodeExtension, NO_EXTENSION } from '../../../src/rpc/extension.ts'
import { FailureCode, FrameFlag, FrameKind, methodNumber } from '../../../src/rpc/frame.ts'
import { bytes, createServer, defineService, openChannel, type Server, unary } from '../../../src/rpc/index.ts'
import { frame, hello, sendRaw } from '../raw-frames.ts'
import { until } from '../support.ts'
import { LendingTally } from './lending-tally.ts'
import { linkPair } from './pairs.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const place = { device: 'shm0', address: '127.0.0.1' }
const GIVEN_BYTES = 1 << 20
const service = defineService({
  name: 'open',
  methods: { give: unary({ codec: bytes }), take: unary({ codec: bytes }) },
})
const [give, take] = [methodNumber('open', 'give', 'unary'), methodNumber('open', 'take', 'unary')]
const given = new Uint8Array(GIVEN_BYTES)

interface Scene {
  readonly bad: VerbsLink
  readonly serverLink: VerbsLink
  readonly tally: LendingTally
  /** What has come to the client: kind, flags and word. */
  readonly came: (readonly [number, number, number])[]
}

/** A client that sends what it likes; whatever it does, another is answered afterwards. */
async function scene(play: (scene: Scene) => Promise<void>): Promise<void> {
  await using server: Server = createServer({ bodyBytesMax: 2 << 20, assemblyBytesMax: 8 << 20 })
  server.serve(service, { give: () => given, take: () => new Uint8Array(1) })
  await using links = await linkPair(place, 'auto')
  const { client: bad, server: serverLink } = links
  const tally = new LendingTally(serverLink)
  server.accept(serverLink)
  const came: (readonly [number, number, number])[] = []
  bad.onMessage = (ring, offset) => {
    const view = new DataView(ring.buffer, ring.byteOffset + offset)
    came.push([view.getUint8(0), view.getUint8(1), view.getUint32(8, true)])
  }
  bad.onEnd = () => undefined
  sendRaw(bad, hello)
  await play({ bad, serverLink, tally, came })
  bad.destroy()
  await until(() => !serverLink.open && tally.takenBytes === 0)
  await using others = await linkPair(place, 'auto')
  server.accept(others.server)
  await using channel = openChannel(others.client)
  const answer = (await channel.client(service).give(new Uint8Array(1))) as Uint8Array
  assert.equal(answer.length, GIVEN_BYTES)
}

/** A request, or what else, whose body is said to lie at the client. */
function offer(kind: number, call: number, length: number): Uint8Array {
  const body = { address: 4096, key: 77, length }
  const extension = encodeExtension({ ...NO_EXTENSION, body })!
  return frame(kind, FrameFlag.Offered, extension.length, call, take, 1_000_000, extension)
}

test('a body that lies nowhere costs its client the connection', options, () =>
  scene(async ({ bad, serverLink }) => {
    sendRaw(bad, offer(FrameKind.Request, 1, 100_000))
    await until(() => !serverLink.open)
  }),
)

test(
  'bodies that are announced and never come take no memory beyond those under way, and are not begun without end',
  options,
  () =>
    scene(async ({ bad, serverLink, tally, came }) => {
      tally.hold()
      // There is room for three of them at a time.
      for (let call = 0; call < 5; call += 1) sendRaw(bad, offer(FrameKind.Request, call, (2 << 20) - 1000))
      sendRaw(bad, offer(FrameKind.Request, 5, (2 << 20) + 1))
      await until(() => came.filter(([kind]) => kind === FrameKind.Failure).length === 1)
      for (const [kind, , code] of came) if (kind === FrameKind.Failure) assert.equal(code, FailureCode.TooLarge)
      assert.equal(came.filter(([kind]) => kind === FrameKind.Fetched).length, 1)
      assert.ok(serverLink.open)
      assert.ok(tally.takenBytesMax <= 8 << 20)
      for (let call = 6; call < 80; call += 1) if (bad.open) sendRaw(bad, offer(FrameKind.Request, call, 1))
      await until(() => !serverLink.open)
    }),
)

test('a client that never says that it has its answers gets some of them another way, within bounds', options, () =>
  scene(async ({ bad, serverLink, tally, came }) => {
    for (let call = 0; call < 40; call += 1) {
      sendRaw(bad, frame(FrameKind.Request, 0, 0, call, give, 1_000_000, new Uint8Array(1)))
      await until(() => came.filter(([kind]) => kind === FrameKind.Answer).length === call + 1)
    }
    const offered = came.filter(([kind, flags]) => kind === FrameKind.Answer && flags === FrameFlag.Offered)
    assert.equal(offered.length, 16)
    assert.ok(tally.takenBytesMax <= 16 << 20, `${tally.takenBytesMax} bytes lay there`)
    assert.ok(serverLink.open)
  }),
)

for (const [what, frames] of [
  ['says that it fetched what was not offered', [frame(FrameKind.Fetched, 0, 0, 3, 0, 0, new Uint8Array(0))]],
  ['offers something other than a request', [offer(FrameKind.Item, 3, 1000)]],
  ['offers a body that is nowhere', [frame(FrameKind.Request, FrameFlag.Offered, 0, 3, take, 1000, new Uint8Array(0))]],
  ['offers a body within another', [offer(FrameKind.Request, 3, 1000), offer(FrameKind.Request, 3, 1000)]],
] as const)
  test(`a client that ${what} loses its connection`, options, () =>
    scene(async ({ bad, serverLink, tally }) => {
      tally.hold()
      for (const each of frames) sendRaw(bad, each)
      await until(() => !serverLink.open)
    }),
  )

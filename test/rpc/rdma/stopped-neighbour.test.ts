import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import type { VerbsLink } from '../../../src/messaging/index.ts'
import type { ShmQueuePair } from '../../../src/providers/shm/queue-pair.ts'
import { bytes, createServer, defineService, openChannel, unary } from '../../../src/rpc/index.ts'
import { until } from '../support.ts'
import { LendingTally } from './lending-tally.ts'
import { linkPair } from './pairs.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const place = { device: 'shm0', address: '127.0.0.1' }
const LONG_BYTES = 1 << 20
/** More than a request of the device may take before the link is given up. */
const STOPPED_MS = 1500
const service = defineService({ name: 'neighbour', methods: { echo: unary({ codec: bytes }) } })

/**
 * The peer of this link is stopped in the middle of an access, as this end's device sees it, until what it gives is
 * called.
 */
function stopInside({ pair }: VerbsLink): () => void {
  const provider = pair.provider as ShmQueuePair
  provider.awaitOutside = () => false
  return () => Reflect.deleteProperty(provider, 'awaitOutside')
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

for (const lending of ['window', 'registration'] as const)
  test(
    `long bodies go on while a peer of another link is stopped in the middle of an access (${lending}s)`,
    options,
    async () => {
      await using others = await linkPair(place, lending)
      await using links = await linkPair(place, lending)
      const { client: clientLink, server: serverLink } = links
      const tallies = [new LendingTally(clientLink), new LendingTally(serverLink)]
      await using server = createServer().serve(service, { echo: (value) => value })
      server.accept(serverLink)
      await using channel = openChannel(clientLink)
      const client = channel.client(service)
      const goOn = stopInside(others.server)
      try {
        for (let round = 1; round < 4; round += 1) {
          const body = new Uint8Array(LONG_BYTES).fill(round)
          assert.equal(Buffer.compare((await client.echo(body)) as Uint8Array, body), 0)
        }
        // What is kept for the next body is given back.
        await until(() => tallies.every(({ takenBytes }) => takenBytes === 0))
        await pause(STOPPED_MS)
        assert.ok(clientLink.open && serverLink.open)
      } finally {
        goOn()
      }
    },
  )

test(
  'what is kept for a peer that is stopped in the middle of an access waits for it, and does not end the link',
  options,
  async () => {
    await using links = await linkPair(place, 'window')
    const { client: clientLink, server: serverLink } = links
    const tally = new LendingTally(serverLink)
    await using server = createServer().serve(service, { echo: (value) => value })
    server.accept(serverLink)
    await using channel = openChannel(clientLink)
    const client = channel.client(service)
    await client.echo(new Uint8Array(LONG_BYTES))
    const goOn = stopInside(serverLink)
    try {
      // Longer than it is kept.
      await pause(2000 + STOPPED_MS)
      assert.ok(tally.takenBytes > 0)
      assert.ok(clientLink.open && serverLink.open)
    } finally {
      goOn()
    }
    await until(() => tally.takenBytes === 0)
    assert.equal(((await client.echo(new Uint8Array(LONG_BYTES))) as Uint8Array).length, LONG_BYTES)
  },
)

test(
  'a link that ends while a peer of another one is stopped lets go of the bodies that it fetches',
  options,
  async () => {
    await using others = await linkPair(place, 'window')
    await using links = await linkPair(place, 'window')
    const tally = new LendingTally(links.server)
    await using server = createServer().serve(service, { echo: (value) => value })
    server.accept(links.server)
    await using channel = openChannel(links.client)
    tally.hold()
    const call = channel.client(service).echo(new Uint8Array(LONG_BYTES))
    const ended = call.catch((error: unknown) => error)
    await tally.begun
    const goOn = stopInside(others.server)
    try {
      links.server.destroy()
      assert.equal(((await ended) as { code: string }).code, 'ERR_AETHER_RPC_CONNECTION_LOST')
      await new Promise((resolve) => setImmediate(resolve))
    } finally {
      goOn()
    }
  },
)

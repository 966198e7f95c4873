import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkError } from '../../src/messaging/index.ts'
import { deviceFabric } from './endpoint-fabrics.ts'

const fabric = deviceFabric('shm0', '127.0.0.1')
/** Too long for the ring: it is offered, and fetched. */
const LONG = 1 << 20

test('a long message that has come when its receiver closes is delivered, and both end in order', async () => {
  const { client, server, close } = await fabric.join()
  let received = 0
  server.handlers = {
    receive: (data) => {
      received += data.length
    },
  }
  const sent = client.send(new Uint8Array(LONG))
  client.link.flush()
  await Promise.all([sent, server.close()])
  assert.equal(received, LONG)
  assert.equal(await server.ended, undefined)
  assert.equal(await client.ended, undefined)
  await close()
})

test('a long message that comes while its receiver ends is not delivered, nor what is behind it, and both end in order', async () => {
  const { client, server, close } = await fabric.join()
  let received = 0
  server.handlers = {
    receive: () => {
      received += 1
    },
  }
  const closed = server.close()
  // Without a turn of the event loop, in which the peer would be told.
  while (server.link.canSend) await undefined
  const sent = client.send(new Uint8Array(LONG))
  await client.send(new Uint8Array(8))
  client.link.flush()
  await assert.rejects(sent, (error: unknown) => error instanceof LinkError && error.outcome === 'unknown')
  await closed
  assert.equal(received, 0)
  assert.equal(await server.ended, undefined)
  assert.equal(await client.ended, undefined)
  await close()
})

test('an end that closes while long messages go both ways has its own fetched, and ends in order', async () => {
  const { client, server, close } = await fabric.join()
  const received = { client: 0, server: 0 }
  client.handlers = {
    receive: () => {
      received.client += 1
    },
  }
  server.handlers = {
    receive: () => {
      received.server += 1
    },
  }
  const sent: Promise<boolean>[] = []
  for (let index = 0; index < 8; index += 1)
    sent.push(
      client.send(new Uint8Array(LONG)).then(
        () => true,
        () => false,
      ),
    )
  const own = [server.send(new Uint8Array(LONG)), server.send(new Uint8Array(LONG))]
  await server.close()
  await Promise.all(own)
  assert.equal(received.client, 2)
  assert.equal(await server.ended, undefined)
  assert.equal(await client.ended, undefined)
  const known = (await Promise.all(sent)).filter((isSent) => isSent).length
  assert.equal(received.server, known)
  await close()
})

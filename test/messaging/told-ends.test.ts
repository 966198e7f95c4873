import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connectEndpoint, LinkError, listenEndpoints, type VerbsLink } from '../../src/messaging/index.ts'
import { deviceFabric } from './endpoint-fabrics.ts'
import { joinLinks } from './support.ts'

const fabric = deviceFabric('shm0', '127.0.0.1')

test('an operation is told of its end where the messages before it cannot leave, and the link ends with them', async () => {
  const { client, server, listener } = await joinLinks('shm0')
  const [local, remote] = [client.allocate(8), server.allocate(8)]
  const segment = client.pair.prepareWrite({ local: [local.bytes], remote, inline: true })
  client.reserve(8)
  client.commit(8)
  // What the flush of the message meets: the queue pair takes nothing any more.
  client.pair.close()
  const told: unknown[] = []
  client.post('write', segment, (error) => told.push(error))
  assert.equal(client.open, false)
  assert.equal(told.length, 1)
  assert.ok(told[0] instanceof LinkError, String(told[0]))
  assert.equal(told[0].outcome, 'none')
  listener.close()
})

/** From now on nothing can leave, and the first flush ends the link. */
function endWithFlush(link: VerbsLink): void {
  link.flush = () => link.destroy()
}

test('memory that is lent while the link ends is refused', async () => {
  const { client, listener } = await joinLinks('shm0')
  const { lending } = client
  using buffer = lending.allocate(4096)
  endWithFlush(client)
  assert.throws(() => lending.lend({ buffer }, 'read'), LinkError)
  listener.close()
})

test('a loan that is taken back while the link ends is over', async () => {
  const { client, listener } = await joinLinks('shm0')
  const { lending } = client
  using buffer = lending.allocate(4096)
  const loan = lending.lend({ buffer }, 'read')
  endWithFlush(client)
  await loan.end(true)
  listener.close()
})

test('what a handler throws keeps nothing from being told of its end: neither what was done with it, nor what was under way', async () => {
  const { client, server, close } = await fabric.join()
  const [local, remote] = [client.allocate(64), server.allocate(64)]
  const done: number[] = []
  client.handlers = {
    writeDone: (id) => {
      done.push(id)
      throw new Error('a mistake of the program')
    },
  }
  client.postWrite(1, { buffer: local }, remote)
  const beside = client.write({ buffer: local }, remote).then(
    () => 'written',
    (error: LinkError) => error.reason,
  )
  client.postWrite(2, { buffer: local }, remote)
  const behind = client.write({ buffer: local }, remote).then(
    () => 'written',
    (error: LinkError) => error.reason,
  )
  assert.equal((await client.ended)?.reason, 'handler')
  assert.deepEqual(done, [1, 2])
  assert.ok(['written', 'lost'].includes(await beside))
  assert.ok(['written', 'lost'].includes(await behind))
  assert.equal((await server.ended)?.reason, 'lost')
  await close()
})

test('what the handlers `disconnected` and `error` throw is a warning, and ends nothing else', async () => {
  const { client, server, close } = await fabric.join()
  const mistake = (): never => {
    throw new Error('a mistake of the program')
  }
  client.handlers = { disconnected: mistake }
  server.handlers = { disconnected: mistake }
  let warned = once(process, 'warning')
  await server.close()
  assert.match(String((await warned)[0]), /a mistake of the program/)
  assert.equal(await client.ended, undefined)
  await close()

  const mortal = await fabric.joinMortal()
  mortal.client.handlers = { error: mistake }
  warned = once(process, 'warning')
  mortal.kill()
  assert.equal((await mortal.client.ended)?.reason, 'lost')
  assert.match(String((await warned)[0]), /a mistake of the program/)
  await mortal.close()
})

test('what `clientError` throws is a warning, and the next client is served', async () => {
  const where = { device: 'shm0', address: '127.0.0.1' }
  let accepted = 0
  const listener = await listenEndpoints({
    ...where,
    accept: () => {
      accepted += 1
      if (accepted === 1) throw new Error('not this one')
    },
    clientError: () => {
      throw new Error('a mistake of the program')
    },
  })
  const warned = once(process, 'warning')
  const { port } = listener
  const first = await connectEndpoint({ ...where, port })
  assert.match(String((await warned)[0]), /a mistake of the program/)
  assert.equal((await first.ended)?.reason, 'lost')
  const next = await connectEndpoint({ ...where, port })
  await next.send(new Uint8Array(8))
  await next.close()
  assert.equal(await next.ended, undefined)
  assert.equal(accepted, 2)
  listener.close()
})

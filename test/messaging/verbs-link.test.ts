import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../src/runtime/index.ts'
import { endOf, joinLinks, sendFilled } from './support.ts'

test('messages go both ways over shm, and the link is closed in order', async () => {
  const { client, server, listener } = await joinLinks('shm0')
  const got: string[] = []
  server.onMessage = (bytes, offset, length, immediate, kind) => {
    got.push(`${bytes[offset]}x${length} ${immediate} ${kind}`)
    void sendFilled(server, length, immediate + 1)
  }
  const answered = new Promise<number>((resolve) => {
    client.onMessage = (_bytes, _offset, _length, immediate) => resolve(immediate)
  })
  await sendFilled(client, 100, 7, 3)
  assert.equal(await answered, 8)
  assert.deepEqual(got, ['7x100 7 3'])
  const over = endOf(server)
  await client.close()
  assert.equal(await over, undefined)
  listener.close()
})

test('the ring wraps ten thousand times, with random lengths and a reader that stops now and then', async () => {
  const { client, server, close } = await joinLinks('shm0', { ringBytes: 1024, receives: 8 })
  const random = new Random(5)
  const lengths = new Random(6)
  let sent = 0
  let bytesSent = 0
  let received = 0
  const wrong: string[] = []
  server.onMessage = (bytes, offset, length, immediate) => {
    if (immediate !== received) wrong.push(`message ${immediate} where ${received} was due`)
    for (let at = offset; at < offset + length; at += 1)
      if (bytes[at] !== (immediate & 255))
        wrong.push(`byte ${at - offset} of ${length} of message ${immediate} is ${bytes[at]}`)
    received += 1
    if (random.below(1000) > 0) return
    server.pause()
    setTimeout(() => server.resume(), random.below(3))
  }
  while (bytesSent < 10_000 * 1024) {
    const length = lengths.below(client.messageBytesMax + 1)
    await sendFilled(client, length, sent)
    sent += 1
    bytesSent += length
  }
  await client.close()
  assert.deepEqual(wrong, [])
  assert.equal(received, sent)
  await close()
})

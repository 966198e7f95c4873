import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import {
  connectEndpoint,
  type Endpoint,
  type EndpointOptions,
  listenEndpoints,
  listenEndpointsOnThreads,
} from '../../src/messaging/index.ts'

const place = { device: 'shm0', address: '127.0.0.1' }

interface Joined extends AsyncDisposable {
  readonly client: Endpoint
  readonly server: Endpoint
}

async function join(
  options: EndpointOptions & { readonly ringBytes?: number; readonly sendLimit?: object } = {},
): Promise<Joined> {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const { ringBytes = 4096 } = options
  const listener = await listenEndpoints({ ...place, ringBytes, accept: (endpoint) => arrived(endpoint) })
  const client = await connectEndpoint({ ...place, ringBytes, port: listener.port, ...options })
  const server = await accepted
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      client.destroy()
      server.destroy()
      await Promise.all([client.ended, server.ended])
      listener.close()
    },
  }
}

/** What became of it: undefined while it is not known. */
function outcomeOf(promise: Promise<unknown>): { readonly text: string | undefined } {
  const outcome: { text: string | undefined } = { text: undefined }
  promise.then(
    () => {
      outcome.text = 'sent'
    },
    (error: Error) => {
      outcome.text = error.name
    },
  )
  return outcome
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

function fill(endpoint: Endpoint): void {
  while (endpoint.trySend(new Uint8Array(1000)));
}

test('one signal gives up several messages that wait; those without it are sent', async () => {
  await using ends = await join()
  const { client, server } = ends
  server.pause()
  fill(client)
  const controller = new AbortController()
  const { signal } = controller
  const message = new Uint8Array(1500)
  const given = [client.send(message, { signal }), client.send(message, { signal }), client.send(message, { signal })]
  const kept = client.send(message.fill(7))
  const outcomes = [...given, kept].map(outcomeOf)
  controller.abort()
  await until(() => outcomes.slice(0, 3).every(({ text }) => text !== undefined))
  const lengths: number[] = []
  server.handlers = { receive: (data) => lengths.push(data.length) }
  server.resume()
  await kept
  assert.deepEqual(
    outcomes.map(({ text }) => text),
    ['AbortError', 'AbortError', 'AbortError', 'sent'],
  )
  await until(() => lengths.includes(1500))
  assert.equal(lengths.filter((length) => length === 1500).length, 1)
})

test('a handler that aborts while the first of the line fails takes nobody else out of it', async () => {
  const controller = new AbortController()
  await using ends = await join({ handlers: { error: () => controller.abort() } })
  const { client, server } = ends
  server.pause()
  fill(client)
  const message = new Uint8Array(1500)
  const sends = [client.send(message, { signal: controller.signal }), client.send(message), client.send(message)]
  const outcomes = sends.map(outcomeOf)
  const { link } = client
  const reserve = link.reserve.bind(link)
  // The link turns out to be broken when it is the turn of the first.
  link.reserve = (length) => {
    link.reserve = reserve
    link.fail(new Error('broken'))
    return reserve(length)
  }
  server.handlers = { receive: () => {} }
  server.resume()
  await until(() => outcomes.every(({ text }) => text !== undefined))
  assert.deepEqual(
    outcomes.map(({ text }) => text),
    ['AbortError', 'LinkError', 'LinkError'],
  )
})

test('a handler that throws when it hears of an operation that never left keeps nobody from hearing of the end', async () => {
  const heard: unknown[] = []
  await using ends = await join({
    sendLimit: { bytesPerSecond: 1000, burstBytes: 8 },
    handlers: {
      writeDone: (id, error) => {
        heard.push(id)
        if (error !== undefined) throw new Error('a mistake of the program')
      },
      error: () => heard.push('error'),
    },
  })
  const { client, server } = ends
  const [local, remote] = [client.allocate(4096), server.allocate(4096)]
  client.postWrite(1, { buffer: local, length: 8 }, remote)
  client.postWrite(2, { buffer: local }, remote)
  client.postWrite(3, { buffer: local }, remote)
  const outcomes = [client.send(new Uint8Array(100)), client.send(new Uint8Array(5 << 20))].map(outcomeOf)
  client.destroy()
  await client.ended
  await until(() => outcomes.every(({ text }) => text !== undefined))
  assert.deepEqual(
    outcomes.map(({ text }) => text),
    ['LinkError', 'LinkError'],
  )
  assert.deepEqual(
    heard.filter((each) => each !== 1),
    [2, 3, 'error'],
  )
})

test('`ended` resolves though the handler of the end throws', async () => {
  await using ends = await join({
    handlers: {
      error: () => {
        throw new Error('a mistake of the program')
      },
    },
  })
  const warned = once(process, 'warning')
  ends.client.destroy()
  assert.match(String((await warned)[0]), /a mistake of the program/)
  assert.ok((await ends.client.ended) !== undefined)
})

test('who closes while a long message is fetched takes it whole, and says so before the end', async () => {
  await using ends = await join({ ringBytes: 65_536 })
  const { client, server } = ends
  const lengths: number[] = []
  const failures: unknown[] = []
  server.handlers = { receive: (data) => lengths.push(data.length), error: (error) => failures.push(error) }
  const { link } = server
  const read = link.read.bind(link)
  let closed: Promise<void> | undefined
  link.read = (...range) => {
    const reading = read(...range)
    queueMicrotask(() => {
      closed ??= server.close()
    })
    return reading
  }
  await client.send(new Uint8Array(1 << 20))
  await closed
  assert.deepEqual([lengths, failures], [[1 << 20], []])
})

test('a WRITE that blocks goes behind messages that have still to move up, where bytes are limited', async () => {
  const module = new URL('./threads/fixtures/lender.js', import.meta.url).href
  const listener = await listenEndpointsOnThreads({ ...place, ringBytes: 4096, threads: { module, count: 1 } })
  const sendLimit = { bytesPerSecond: 1e9 }
  const client = await connectEndpoint({ ...place, port: listener.port, ringBytes: 4096, sendLimit })
  const { value } = await client[Symbol.asyncIterator]().next()
  assert.ok(value !== undefined)
  const remote = JSON.parse(new TextDecoder().decode(value.data)) as { address: number; key: number }
  const buffer = client.allocate(8)
  // More than the peer's ring holds.
  const sends = Array.from({ length: 20 }, () => client.send(new Uint8Array(1900)))
  client.writeSync({ buffer }, remote, { timeoutMs: 60_000 })
  await Promise.all(sends)
  await client.close()
  await listener.close()
})

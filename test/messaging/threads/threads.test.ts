import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionRejectedError } from '../../../src/cm/index.ts'
import {
  AffinityError,
  connectEndpoint,
  type Endpoint,
  IoThreadError,
  LinkError,
  listenEndpointsOnThreads,
} from '../../../src/messaging/index.ts'
import { AetherError, ArgumentError, native } from '../../../src/native/index.ts'
import { Order } from './fixtures/handlers.ts'
import { allowedList, ask, connectTo, descriptors, openThreads, placeOf, where } from './support.ts'

const allowed = [...native.allowedProcessors()]

test('two threads serve at once, each with its connections, on the processors that were named', async () => {
  const first = allowed[0]!
  const last = allowed.at(-1)!
  const { listener } = await openThreads({ cpus: [first, [last]] })
  const clients = [await connectTo(listener), await connectTo(listener)] as const
  const places = await Promise.all(clients.map(placeOf))
  assert.deepEqual(places.map(({ index }) => index).sort(), [0, 1])
  assert.equal(new Set([process.pid, ...places.map(({ threadId }) => threadId)]).size, 3)
  for (const { index, threadId } of places) {
    assert.equal(allowedList(threadId), String(index === 0 ? first : last))
    assert.equal(listener.threads[index]?.threadId, threadId)
  }
  assert.equal(allowedList(process.pid), allowedList(native.threadId()))
  // Each waits inside its handler until the other is in its own: one thread alone would wait for ever.
  const met = await Promise.all(clients.map((client) => ask(client, Order.Meet, 2)))
  assert.deepEqual(
    met.map(({ data }) => [...data]),
    [[1], [1]],
  )
  assert.deepEqual(met.map(({ immediate }) => immediate).sort(), [0, 1])
  await listener.close()
  assert.deepEqual(await Promise.all(clients.map((client) => client.ended)), [undefined, undefined])
})

test('a connection goes to the thread that has the fewest', async () => {
  const { listener } = await openThreads({ count: 3 })
  const clients = await Promise.all(Array.from({ length: 6 }, () => connectTo(listener)))
  const indexes = (await Promise.all(clients.map(placeOf))).map(({ index }) => index)
  assert.deepEqual(indexes.toSorted(), [0, 0, 1, 1, 2, 2])
  assert.deepEqual(
    listener.threads.map(({ connections, accepted, state }) => [connections, accepted, state]),
    [
      [2, 2, 'running'],
      [2, 2, 'running'],
      [2, 2, 'running'],
    ],
  )
  const leaving = clients.filter((_, at) => indexes[at] === 1)
  await Promise.all(leaving.map((client) => client.close()))
  while (listener.threads[1]?.connections !== 0) await new Promise((resolve) => setTimeout(resolve, 2))
  const coming = [await connectTo(listener), await connectTo(listener)]
  assert.deepEqual(
    (await Promise.all(coming.map(placeOf))).map(({ index }) => index),
    [1, 1],
  )
  assert.ok((listener.threads[1]?.processorMs ?? 1) > 0)
  await listener.close()
})

test('processors that cannot be had are refused by name, with those that can', async () => {
  const wrong = allowed.at(-1)! + 1
  await assert.rejects(openThreads({ cpus: [allowed[0]!, wrong, -1] }), (error) => {
    assert.ok(error instanceof AffinityError)
    assert.equal(error.code, 'ERR_AETHER_AFFINITY')
    assert.deepEqual(error.processors, [wrong, -1])
    assert.deepEqual(error.allowed, allowed)
    assert.match(error.message, /choose from \d[\d,-]*, which this process may use/)
    return true
  })
  await assert.rejects(openThreads({ cpus: [[]] }), ArgumentError)
  await assert.rejects(openThreads({ count: 0 }), ArgumentError)
  await assert.rejects(openThreads({ count: 1, module: './handlers.js' }), ArgumentError)
  await assert.rejects(openThreads({ count: 1, restart: { delayMs: 10, delayMsMax: 5 } }), ArgumentError)
  await assert.rejects(openThreads({ count: 1 }, { ringBytes: 1000 }), ArgumentError)
})

test('a thread that cannot be started: no listener, and the reason', async () => {
  const before = descriptors()
  for (const [name, reason] of [
    ['no-handlers', /must export a function `accept/],
    ['not-there', /Cannot find module/],
  ] as const) {
    const url = new URL(`./fixtures/${name}.js`, import.meta.url)
    await assert.rejects(openThreads({ count: 2, module: url }), (error) => {
      assert.ok(error instanceof IoThreadError)
      assert.equal(error.restartMs, undefined)
      assert.match(error.message, reason)
      return true
    })
  }
  // What was opened for a moment when it was counted is waited for.
  for (let turn = 0; turn < 1000 && descriptors() > before; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(descriptors() <= before, `${before} descriptors before, ${descriptors()} now`)
  const endless = new URL('data:text/javascript,await new Promise(() => setInterval(() => {}, 1000))')
  await assert.rejects(openThreads({ count: 1, module: endless, startTimeoutMs: 300 }), /within 300 ms/)
})

for (const [what, order, reason] of [
  ['throws outside of a handler', Order.ThrowLater, /as the client told it/],
  ['calls process.exit', Order.Exit, /process\.exit\(3\)/],
] as const) {
  test(`a thread that ${what} takes its connections along and no others, says so, and comes back`, async () => {
    let failure!: (error: IoThreadError) => void
    const failed = new Promise<IoThreadError>((resolve) => {
      failure = resolve
    })
    const { listener } = await openThreads({ count: 2, restart: { delayMs: 5 }, failed: failure })
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectTo(listener)))
    const places = await Promise.all(clients.map(placeOf))
    const victims = clients.filter((_, at) => places[at]?.index === 1)
    const others = clients.filter((_, at) => places[at]?.index === 0)
    assert.equal(victims.length, 2)
    void victims[0]?.send(Uint8Array.of(order)).catch(() => undefined)
    for (const victim of victims) {
      const end = await victim.ended
      assert.ok(end instanceof LinkError)
      assert.equal(end.reason, 'lost')
    }
    const error = await failed
    assert.deepEqual([error.code, error.thread, error.connections, error.restartMs], ['ERR_AETHER_IO_THREAD', 1, 2, 5])
    assert.match(error.message, reason)
    for (const other of others) assert.deepEqual((await ask(other, Order.Echo, 9)).data, Uint8Array.of(0, 9))
    while (listener.threads[1]?.state !== 'running') await new Promise((resolve) => setTimeout(resolve, 2))
    const again = await connectTo(listener)
    const place = await placeOf(again)
    assert.equal(place.index, 1)
    assert.notEqual(place.threadId, places.find(({ index }) => index === 1)?.threadId)
    assert.equal(listener.threads[1]?.failures, 1)
    await listener.close()
    assert.equal(await again.ended, undefined)
  })
}

test('threads whose connections share receives: one crashes with its own, the others go on, and the places are given again', async () => {
  const perThread = 10
  const errors: unknown[] = []
  const { listener } = await openThreads(
    { count: 2, restart: { delayMs: 5 }, failed: () => {} },
    {
      sharedReceiveQueue: { connectionsMax: perThread, receives: perThread * 8 + 16 },
      rnrRetry: 0,
      clientError: (error) => errors.push(error),
    },
  )
  const small = { ...where, port: listener.port, ringBytes: 4096, sends: 16, receives: 16 }
  const join = (count: number) => Promise.all(Array.from({ length: count }, () => connectEndpoint(small)))
  /** More at once than the receives that each has for certain. */
  const echo = (clients: readonly Endpoint[]) =>
    Promise.all(
      clients.map(async (client, at) => {
        let left = 40
        const all = new Promise<void>((resolve, reject) => {
          client.handlers = {
            receive: (data) => {
              assert.deepEqual([...data], [0, at])
              left -= 1
              if (left === 0) resolve()
            },
            error: reject,
          }
        })
        for (let turn = left; turn > 0; turn -= 1) await client.send(Uint8Array.of(Order.Echo, at))
        await all
      }),
    )
  const clients = await join(2 * perThread)
  const places = await Promise.all(clients.map(placeOf))
  const of = (thread: number) => clients.filter((_, at) => places[at]?.index === thread)
  assert.deepEqual([of(0).length, of(1).length], [perThread, perThread])
  await echo(clients)
  // There is no place for one more in either, and it never takes itself for connected.
  let connected = 0
  await assert.rejects(
    connectEndpoint({
      ...small,
      connected: () => {
        connected += 1
      },
    }),
    (error) => error instanceof LinkError && error.reason === 'full',
  )
  assert.equal(connected, 0)
  while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  // Errors of threads come with their text.
  assert.match(String(errors[0]), /has its maximum of 10 connections/)
  assert.equal(
    listener.threads.reduce((sum, { refused }) => sum + refused, 0),
    1,
  )

  const busy = echo(of(0))
  void of(1)[3]
    ?.send(Uint8Array.of(Order.Exit))
    .catch(() => undefined)
  for (const end of await Promise.all(of(1).map((client) => client.ended))) assert.equal(end?.reason, 'lost')
  await busy
  await echo(of(0))
  // Its clients may know of the end before this thread does.
  const isBack = () => listener.threads[1]?.failures === 1 && listener.threads[1].state === 'running'
  while (!isBack()) await new Promise((resolve) => setTimeout(resolve, 2))
  const again = await join(perThread)
  for (const { index } of await Promise.all(again.map(placeOf))) assert.equal(index, 1)
  await echo([...of(0), ...again])
  await listener.close()
  for (const end of await Promise.all([...of(0), ...again].map((client) => client.ended))) assert.equal(end, undefined)
})

test('a handler that throws ends its own connection, and the thread goes on', async () => {
  const { listener } = await openThreads({ count: 1 })
  const [one, other] = [await connectTo(listener), await connectTo(listener)]
  void one.send(Uint8Array.of(Order.Throw)).catch(() => undefined)
  assert.equal((await one.ended)?.reason, 'lost')
  assert.equal((await ask(other, Order.Echo)).immediate, 0)
  assert.equal(listener.threads[0]?.failures, 0)
  await listener.close()
})

test('without a thread that runs clients are turned away, and told why at the listener', async () => {
  const errors: unknown[] = []
  let over!: () => void
  const failed = new Promise<void>((resolve) => {
    over = resolve
  })
  const { listener } = await openThreads(
    { count: 1, restart: false, failed: over },
    { clientError: (error) => errors.push(error) },
  )
  const client = await connectTo(listener)
  void client.send(Uint8Array.of(Order.Exit)).catch(() => undefined)
  await failed
  assert.equal(listener.threads[0]?.state, 'ended')
  await assert.rejects(connectTo(listener), ConnectionRejectedError)
  assert.ok(errors[0] instanceof AetherError && errors[0].code === 'ERR_AETHER_IO_THREAD')
  await listener.close()
})

test('a module that does not load again is tried with growing delays', async () => {
  const delays: (number | undefined)[] = []
  let enough!: () => void
  const three = new Promise<void>((resolve) => {
    enough = resolve
  })
  const shared = new SharedArrayBuffer(4)
  const listener = await listenEndpointsOnThreads({
    ...where,
    threads: {
      module: new URL('./fixtures/once.js', import.meta.url),
      data: shared,
      count: 1,
      restart: { delayMs: 2, delayMsMax: 5 },
      failed: (error) => {
        if (delays.push(error.restartMs) === 4) enough()
      },
    },
  })
  const client = await connectTo(listener)
  void client.send(Uint8Array.of(Order.Exit)).catch(() => undefined)
  await three
  assert.deepEqual(delays.slice(0, 4), [2, 4, 5, 5])
  await listener.close()
  assert.equal(listener.threads[0]?.state, 'ended')
})

test('a thread that is stuck is ended by force when its time is up, and its clients learn of it', async () => {
  const { listener, words } = await openThreads({ count: 1 })
  const client = await connectTo(listener)
  await ask(client, Order.Echo)
  await client.send(Uint8Array.of(Order.Block))
  // Sent is not yet handled: a thread that is told to close first would close its connections in order.
  await Atomics.waitAsync(words, 2, 0).value
  await listener.close({ timeoutMs: 50 })
  assert.equal(listener.threads[0]?.state, 'ended')
  assert.equal((await client.ended)?.reason, 'lost')
  await assert.rejects(connectTo(listener))
})

test('a signal closes it; what clients sent before has arrived', async () => {
  const stop = new AbortController()
  const { listener } = await openThreads({ count: 1 }, { signal: stop.signal })
  const client = await connectTo(listener)
  let echoed = 0
  client.handlers = {
    receive: () => {
      echoed += 1
    },
  }
  for (let index = 0; index < 100; index += 1) await client.send(Uint8Array.of(Order.Echo, index))
  while (echoed === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  stop.abort()
  assert.equal(await client.ended, undefined)
  assert.equal(listener.closed, true)
  await listener.close()
  await assert.rejects(openThreads({ count: 1 }, { signal: AbortSignal.abort() }), /abort/)
})

test('threads that fail leave nothing open in the process', async () => {
  let failures = 0
  let changed = (): void => undefined
  const { listener } = await openThreads({
    count: 1,
    restart: { delayMs: 1, delayMsMax: 1 },
    failed: () => {
      failures += 1
      changed()
    },
  })
  const counts: number[] = []
  for (let round = 1; round <= 4; round += 1) {
    while (listener.threads[0]?.state !== 'running') await new Promise((resolve) => setTimeout(resolve, 2))
    counts.push(descriptors())
    const client = await connectTo(listener)
    void client.send(Uint8Array.of(Order.ThrowLater)).catch(() => undefined)
    await client.ended
    while (failures < round)
      await new Promise<void>((resolve) => {
        changed = resolve
      })
  }
  await listener.close()
  // Each would leave a device's memory, doorbell and peers: several, each time. One or two may be open for a moment.
  assert.ok(counts[3]! - counts[1]! < 4, counts.join(' '))
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import {
  connectEndpoint,
  type Endpoint,
  type KeepConnectedOptions,
  keepConnected,
  type LinkListener,
  listenEndpoints,
} from '../../src/messaging/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

function turns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): unknown => (left === 0 ? resolve() : setImmediate(turn, left - 1))
    turn(count)
  })
}

/** A server, and the connections that it was given. */
async function serve(t: TestContext): Promise<{ listener: LinkListener; accepted: Endpoint[] }> {
  const accepted: Endpoint[] = []
  const listener = await listenEndpoints({ ...where, accept: (endpoint) => accepted.push(endpoint) })
  t.after(() => listener.close())
  return { listener, accepted }
}

type Delay = number | undefined

/** Keep a connection, whose delays pass at once on a clock of the test's; every one of them. */
function delaysOf(t: TestContext, options: KeepConnectedOptions): { delays: Delay[]; stopped: Promise<void> } {
  const { timers } = t.mock
  timers.enable({ apis: ['setTimeout'] })
  const delays: Delay[] = []
  const { stopped } = keepConnected({
    ...options,
    attemptFailed: (error, delayMs) => {
      options.attemptFailed?.(error, delayMs)
      delays.push(delayMs)
      if (delayMs === undefined) return
      const attempts = delays.length
      void (async () => {
        await turns(1)
        timers.tick(delayMs - 1)
        await turns(20)
        assert.equal(delays.length, attempts, 'the next attempt was made too early')
        timers.tick(1)
      })()
    },
  })
  return { delays, stopped }
}

function assertDrawn(delays: readonly Delay[], most: readonly number[]): void {
  assert.equal(delays.length, most.length)
  for (const [index, delayMs = 0] of delays.entries()) {
    const of = most[index]!
    assert.ok(delayMs >= of / 2 && delayMs <= of, `delay ${index} of ${delayMs} ms where ${of / 2} to ${of} are due`)
  }
}

/** Always refused: no listener is there. */
const nowhere = { ...where, port: 1, connected: () => assert.fail('a listener answered there') }

test('the delay doubles up to its cap, is drawn from the upper half, and ends with the last attempt', async (t) => {
  const { delays, stopped } = delaysOf(t, { ...nowhere, delayMs: 1000, delayMsMax: 6000, attemptsMax: 7 })
  await stopped
  assert.equal(delays.pop(), undefined)
  assertDrawn(delays, [1000, 2000, 4000, 6000, 6000, 6000])
})

test('without figures the delay begins at 50 ms and does not pass 5 s', async (t) => {
  const { delays, stopped } = delaysOf(t, { ...nowhere, attemptsMax: 10 })
  await stopped
  assert.equal(delays.pop(), undefined)
  assertDrawn(delays, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000])
})

test('a single attempt is made where no more may fail', async (t) => {
  const { delays, stopped } = delaysOf(t, { ...nowhere, attemptsMax: 1 })
  await stopped
  assert.deepEqual(delays, [undefined])
})

test('a connection that stood begins the count and the delays anew', async (t) => {
  const { listener, accepted } = await serve(t)
  const delayMs = 10
  let connections = 0
  const { delays, stopped } = delaysOf(t, {
    ...where,
    port: listener.port,
    delayMs,
    attemptsMax: 3,
    connected: (endpoint) => {
      connections += 1
      if (connections !== 3) throw new Error('not now')
      // Of the monotonic clock, which is not the test's.
      let sinceMs = Number.NaN
      const endLater = (): void => {
        sinceMs ||= performance.now()
        if (performance.now() - sinceMs > 2 * delayMs) endpoint.destroy()
        else setImmediate(endLater)
      }
      setImmediate(endLater)
    },
  })
  await stopped
  assert.equal(connections, 6)
  assert.equal(delays.pop(), undefined)
  assertDrawn(delays, [10, 20, 10, 20])
  while (accepted.length < connections) await turns(1)
  for (const endpoint of accepted) await endpoint.ended
})

test('what `connected` throws ends that connection, and is a failed attempt', async (t) => {
  const { listener, accepted } = await serve(t)
  const mistake = new Error('a mistake of the program')
  const errors: unknown[] = []
  const endpoints: Endpoint[] = []
  const kept = keepConnected({
    ...where,
    port: listener.port,
    delayMs: 1,
    attemptsMax: 3,
    connected: (endpoint) => {
      endpoints.push(endpoint)
      throw mistake
    },
    attemptFailed: (error) => errors.push(error),
  })
  await kept.stopped
  assert.deepEqual(errors, [mistake, mistake, mistake])
  assert.equal(kept.endpoint, undefined)
  for (const endpoint of endpoints) {
    assert.equal(endpoint.open, false)
    assert.equal((await endpoint.ended)?.reason, 'handler')
  }
  while (accepted.length < 3) await turns(1)
  for (const endpoint of accepted) assert.equal((await endpoint.ended)?.reason, 'lost')
  await kept.close()
})

test('what `connected` of a single connection throws ends it, and is what the call rejects with', async (t) => {
  const { listener, accepted } = await serve(t)
  let connection: Endpoint | undefined
  const connecting = connectEndpoint({
    ...where,
    port: listener.port,
    connected: (endpoint) => {
      connection = endpoint
      throw new Error('a mistake of the program')
    },
  })
  await assert.rejects(connecting, /^Error: a mistake of the program$/)
  assert.equal((await connection?.ended)?.reason, 'handler')
  while (accepted.length === 0) await turns(1)
  assert.equal((await accepted[0]?.ended)?.reason, 'lost')
})

test('closed inside `connected`: the connection that came is closed in order, and no other is made', async (t) => {
  const { listener, accepted } = await serve(t)
  const connections: Endpoint[] = []
  let closed: Promise<void> | undefined
  await new Promise<void>((resolve) => {
    const kept = keepConnected({
      ...where,
      port: listener.port,
      connected: (endpoint) => {
        connections.push(endpoint)
        assert.equal(kept.endpoint, endpoint)
        closed = kept.close()
        resolve()
      },
    })
  })
  await closed
  assert.equal(await connections[0]?.ended, undefined)
  assert.equal(await accepted[0]?.ended, undefined)
  assert.equal(connections.length, 1)
})

test('what `attemptFailed` throws is a warning, and attempts go on', async () => {
  const warned = once(process, 'warning')
  let failed = 0
  const kept = keepConnected({
    ...nowhere,
    delayMs: 1,
    attemptsMax: 3,
    attemptFailed: () => {
      failed += 1
      if (failed === 2) throw new Error('a mistake of the program')
    },
  })
  await kept.stopped
  assert.equal(failed, 3)
  assert.match(String((await warned)[0]), /a mistake of the program/)
})

test('closed while it waits, also from within `attemptFailed`, it does not wait to the end', async () => {
  const hourMs = 3_600_000
  await new Promise<void>((resolve) => {
    const kept = keepConnected({
      ...nowhere,
      delayMs: hourMs,
      delayMsMax: hourMs,
      attemptFailed: () => resolve(kept.close()),
    })
  })
  await new Promise<void>((resolve) => {
    const kept = keepConnected({
      ...nowhere,
      delayMs: hourMs,
      delayMsMax: hourMs,
      attemptFailed: () => setImmediate(() => resolve(kept.close())),
    })
  })
})

for (const [how, accept] of [
  [
    'a server that throws',
    () => {
      throw new Error('not now')
    },
  ],
  ['a server that closes at once', (endpoint: Endpoint) => void endpoint.close()],
] as const)
  test(`a connection that ends as soon as it stands is a failed attempt: ${how}`, async (t) => {
    const listener = await listenEndpoints({ ...where, accept })
    t.after(() => listener.close())
    const errors: unknown[] = []
    let connections = 0
    const { delays, stopped } = delaysOf(t, {
      ...where,
      port: listener.port,
      // It never stands for so long here.
      delayMs: 3_600_000,
      attemptsMax: 3,
      connected: () => {
        connections += 1
      },
      attemptFailed: (error) => errors.push(error),
    })
    await stopped
    assert.equal(connections, 3)
    assert.equal(delays.pop(), undefined)
    assertDrawn(delays, [3_600_000, 3_600_000])
    for (const error of errors) assert.match(String(error), /LinkError|ClosedError/)
  })

test('options that cannot be are refused at once', () => {
  const good: KeepConnectedOptions = { ...nowhere }
  const bad: Record<string, unknown>[] = [
    { ringBytes: 1000 },
    { address: '' },
    { port: 0 },
    { connectTimeoutMs: Number.POSITIVE_INFINITY },
    { privateData: new Uint8Array(1000) },
    { handlers: { receive: 5 } },
    { connected: undefined },
    { delayMs: 0 },
    { delayMs: Number.NaN },
    { delayMsMax: Number.POSITIVE_INFINITY },
    { delayMs: 100, delayMsMax: 50 },
    { attemptsMax: 0 },
    { attemptsMax: 1.5 },
  ]
  for (const options of bad)
    assert.throws(
      () => keepConnected({ ...good, ...options }),
      { code: 'ERR_AETHER_INVALID_ARGUMENT' },
      Object.keys(options).join(),
    )
})

test('what only an attempt finds out about its options ends the attempts', async (t) => {
  const { delays, stopped } = delaysOf(t, { ...nowhere, rnrRetry: 8 })
  await stopped
  assert.deepEqual(delays, [undefined])
})

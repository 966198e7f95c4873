import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConnectionError } from '../../src/cm/index.ts'
import {
  connectEndpoint,
  type Endpoint,
  keepConnected,
  LinkError,
  type LinkListener,
  listenEndpoints,
} from '../../src/messaging/index.ts'

const program = fileURLToPath(new URL('./fixtures/peer-program.js', import.meta.url))
const where = { device: 'shm0', address: '127.0.0.1' }

function start(...args: string[]): ChildProcess {
  return fork(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

async function startServer(what = 'serve'): Promise<{ child: ChildProcess; port: number }> {
  const child = start(what)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

test('two processes: messages of all lengths come back as they were, in order', async () => {
  const { child, port } = await startServer()
  const client = await connectEndpoint({ ...where, port })
  const lengths = [0, 1, 7, 8, 9, 100, 4096, 65_536, 131_064, 131_065, 1 << 20, 3_000_001, 5]
  const back: [number, number][] = []
  const all = new Promise<void>((resolve) => {
    client.handlers = {
      receive: (data, immediate = -1) => {
        assert.ok(data.every((byte) => byte === (immediate & 255)))
        if (back.push([data.length, immediate]) === lengths.length) resolve()
      },
    }
  })
  await Promise.all(lengths.map((length, index) => client.sendWithImmediate(new Uint8Array(length).fill(index), index)))
  await all
  assert.deepEqual(
    back,
    lengths.map((length, index) => [length, index]),
  )
  await client.close()
  assert.equal(await client.ended, undefined)
  child.kill('SIGKILL')
})

test('a server that is killed: every client learns of it, what waits fails, and the outcome is called unknown', async () => {
  const { child, port } = await startServer()
  const clients = await Promise.all(Array.from({ length: 4 }, () => connectEndpoint({ ...where, port })))
  const waiting = clients.map(async (client) => {
    client.pause()
    for (;;) await client.send(new Uint8Array(50_000))
  })
  setTimeout(() => child.kill('SIGKILL'), 50)
  await Promise.all(waiting.map((sending) => assert.rejects(sending, LinkError)))
  for (const client of clients) {
    const error = await client.ended
    assert.equal(error?.reason, 'lost')
    assert.equal(error.outcome, 'unknown')
    await assert.rejects(client.send(new Uint8Array(8)), LinkError)
  }
})

test('a server that is killed under 32 clients: all that waits ends with the truth, and those that keep connected find the next', async () => {
  const first = await startServer()
  const clients = 32
  const outcomes: unknown[] = []
  let connections = 0
  let changed = (): void => {}
  const until = async (what: () => boolean): Promise<void> => {
    while (!what())
      await new Promise<void>((resolve) => {
        changed = resolve
      })
  }
  const kept = Array.from({ length: clients }, () =>
    keepConnected({
      ...where,
      port: first.port,
      ringBytes: 4096,
      delayMs: 5,
      delayMsMax: 50,
      connected: (endpoint) => {
        connections += 1
        changed()
        if (connections > clients) return
        // Its answers are not taken, so the server's ring fills, then this end's: what is sent then waits for room that
        // does not come.
        endpoint.pause()
        void (async () => {
          for (;;) await endpoint.send(new Uint8Array(1000))
        })().catch((error) => {
          outcomes.push(error)
          changed()
        })
      },
    }),
  )
  await until(() => connections === clients)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(outcomes.length, 0)
  first.child.kill('SIGKILL')
  await until(() => outcomes.length === clients)
  for (const error of outcomes) {
    assert.ok(error instanceof LinkError)
    assert.deepEqual([error.reason, error.outcome], ['lost', 'unknown'])
  }
  const listener = await listenAgain(first.port)
  await until(() => connections === 2 * clients)
  const answers = kept.map(async ({ endpoint }) => {
    await endpoint?.sendWithImmediate(Uint8Array.of(8), 5)
    return (await endpoint?.messages().next())?.value
  })
  for (const answer of await Promise.all(answers)) assert.deepEqual(answer, { data: Uint8Array.of(8), immediate: 5 })
  await Promise.all(kept.map((each) => each.close()))
  listener.close()
})

/** How an operation ended that failed, and whether the connection stood when it began. */
interface Failed {
  readonly name: string
  readonly begun: boolean
  readonly error: unknown
}

/** The deadline of one operation; many times what any takes. */
const OPERATION_MS = 20_000

async function inTime<T>(name: string, operation: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} is still under way after ${OPERATION_MS} ms`)), OPERATION_MS)
  })
  try {
    return await Promise.race([operation, late])
  } finally {
    clearTimeout(timer)
  }
}

test('a server that is killed under 32 clients: every WRITE, READ and fetch-add ends with the truth by a deadline of its own', async () => {
  const { child, port } = await startServer('lend')
  const failures: Failed[] = []
  let completed = 0
  const clients = await Promise.all(
    Array.from({ length: 32 }, () => connectEndpoint({ ...where, port, ringBytes: 4096, sends: 16 })),
  )
  const running = clients.map(async (client) => {
    const message = (await client.messages().next()).value
    assert.ok(message !== undefined)
    const token = new DataView(message.data.buffer, message.data.byteOffset)
    const [address, key] = [token.getFloat64(0), token.getUint32(8)]
    const buffer = client.allocate(32)
    const olds: bigint[] = []
    const operations: [string, () => Promise<unknown>][] = [
      ['write', () => client.write({ buffer, length: 16 }, { address: address + 16, key })],
      ['read', () => client.read({ buffer, offset: 16 }, { address: address + 16, key })],
      ['fetchAdd', async () => void olds.push(await client.fetchAdd({ address, key }, 1n))],
    ]
    const again = async ([name, operation]: (typeof operations)[number]): Promise<void> => {
      for (;;) {
        const begun = client.open
        try {
          await inTime(name, operation())
          completed += 1
        } catch (error) {
          failures.push({ name, begun, error })
          return
        }
      }
    }
    // More than the send queue holds: some are under way, and some wait for their turn.
    await Promise.all(Array.from({ length: 8 }, () => operations.map(again)).flat())
    assert.deepEqual(
      olds.toSorted((one, other) => Number(one - other)),
      olds.map((_, index) => BigInt(index)),
    )
    for (const [name, operation] of operations) {
      const late = inTime(name, operation())
      await assert.rejects(late, { name: 'LinkError', reason: 'lost', outcome: 'none' })
    }
  })
  while (completed < 32 * 24) await new Promise(setImmediate)
  assert.equal(failures.length, 0)
  child.kill('SIGKILL')
  await Promise.all(running)
  assert.equal(failures.length, 32 * 24)
  for (const { begun, error } of failures) {
    assert.ok(error instanceof LinkError, String(error))
    assert.deepEqual([error.reason, error.outcome], ['lost', begun ? 'unknown' : 'none'])
  }
  for (const kind of ['write', 'read', 'fetchAdd'])
    assert.ok(
      failures.some(({ name, begun }) => name === kind && begun),
      `no ${kind} was under way`,
    )
  for (const client of clients) assert.equal((await client.ended)?.reason, 'lost')
})

/** An echoing server at that port, in this process, as soon as the port is free. */
async function listenAgain(port: number): Promise<LinkListener> {
  const accept = (endpoint: Endpoint): void => {
    endpoint.handlers = { receive: (data, immediate) => void endpoint.trySend(data, immediate) }
  }
  for (;;) {
    try {
      return await listenEndpoints({ ...where, port, accept })
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

test('clients that are killed leave the server and the others alone', async () => {
  const endpoints: Endpoint[] = []
  const listener = await listenEndpoints({ ...where, accept: (endpoint) => endpoints.push(endpoint) })
  const children = [start('stuck', String(listener.port)), start('echo', String(listener.port))]
  await Promise.all(children.map((child) => once(child, 'message')))
  while (endpoints.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  children[0]?.kill('SIGKILL')
  const gone = await Promise.race(endpoints.map(async (endpoint) => [endpoint, await endpoint.ended] as const))
  assert.equal(gone[1]?.reason, 'lost')
  const other = endpoints.find((endpoint) => endpoint !== gone[0])!
  await other.sendWithImmediate(Uint8Array.of(1, 2, 3), 9)
  const { value } = await other.messages().next()
  assert.deepEqual(value, { data: Uint8Array.of(1, 2, 3), immediate: 9 })
  children[1]?.kill('SIGKILL')
  assert.equal((await other.ended)?.reason, 'lost')
  listener.close()
})

test('who keeps connected finds a server that was started again', async () => {
  const first = await startServer()
  const seen: Endpoint[] = []
  let failed = 0
  let changed = (): void => {}
  const kept = keepConnected({
    ...where,
    port: first.port,
    delayMs: 5,
    connected: (endpoint) => {
      seen.push(endpoint)
      changed()
    },
    attemptFailed: () => {
      failed += 1
      changed()
    },
  })
  const until = async (what: () => boolean): Promise<void> => {
    while (!what())
      await new Promise<void>((resolve) => {
        changed = resolve
      })
  }
  try {
    await until(() => seen.length === 1)
    // A connection that ends that soon counts as an attempt that failed; the port is free when its process is gone.
    const gone = once(first.child, 'exit')
    first.child.kill('SIGKILL')
    await gone
    await until(() => failed > 0)
    let arrived!: (endpoint: Endpoint) => void
    const accepted = new Promise<Endpoint>((resolve) => {
      arrived = resolve
    })
    const listener = await listenEndpoints({ ...where, port: first.port, accept: arrived })
    const server = await accepted
    listener.close()
    await until(() => seen.length === 2)
    await server.send(Uint8Array.of(4))
    const { value } = await seen[1]!.messages().next()
    assert.deepEqual(value?.data, Uint8Array.of(4))
    await kept.close()
    assert.equal(await server.ended, undefined)
  } finally {
    await kept.close()
  }
})

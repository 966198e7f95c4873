/**
 * What one operation costs in exact counts, which no emulation changes: calls into native code, and bytes of the
 * JavaScript heap.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { verbsAddon } from '../../src/native/index.ts'
import { createServer, defineService, openChannel, type, unary } from '../../src/rpc/index.ts'
import { Access, CompletionBatch, openDevice, type PreparedRequest } from '../../src/verbs/index.ts'

const WINDOW = 32
const WINDOWS = 100
/** Enough for the engine to compile the loop for good. */
const WARM_WINDOWS = 400

/**
 * Counts every call into the verbs part of the addon by name, for as long as it is in scope: of objects that were made
 * meanwhile, too.
 */
class CallCounter implements Disposable {
  readonly counts = new Map<string, number>()
  /** Work requests in all lists that were posted. */
  posted = 0
  readonly #undo: (() => void)[] = []

  constructor() {
    const addon = verbsAddon()
    assert.ok(addon)
    const table = addon as unknown as Record<string, (...values: unknown[]) => unknown>
    for (const [name, call] of Object.entries(table)) {
      if (typeof call !== 'function') continue
      table[name] = (...values) => {
        this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
        if (name === 'postSend') this.posted += (values[2] as number | undefined) ?? 1
        return call(...values)
      }
      this.#undo.push(() => {
        table[name] = call
      })
    }
  }

  reset(): void {
    this.posted = 0
    this.counts.clear()
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo()
  }
}

function open() {
  const device = openDevice('rxe0')
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(8192, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite)
  const queue = device.createCompletionQueue({ depth: 4 * WINDOW })
  const create = () => domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  const [pair, other] = [create(), create()]
  pair.connect(other.endpoint)
  other.connect(pair.endpoint)
  const remote = { address: memory.address + 4096, key: memory.remoteKey }
  const write = pair.prepareWrite({ local: memory.subarray(0, 8), remote })
  return { device, pair, queue, write, batch: new CompletionBatch(WINDOW) }
}

type Link = ReturnType<typeof open>

/** Posts a window one by one and polls until all of it is done; returns how often it polled. */
function playWindow({ queue, batch }: Link, write: PreparedRequest): number {
  for (let index = 0; index < WINDOW; index += 1) write.post(index)
  let polls = 0
  for (let done = 0; done < WINDOW; polls += 1) done += queue.poll(batch)
  return polls
}

test('a posted request is one native call, a poll is one, and there are no others', () => {
  using counter = new CallCounter()
  const link = open()
  using device = link.device
  assert.equal(device.name, 'rxe0')
  counter.reset()
  const polls = playWindow(link, link.write)
  assert.deepEqual(Object.fromEntries(counter.counts), { postSend: WINDOW, pollCompletions: polls })
})

test('a list of requests is one native call, however many they are', () => {
  using counter = new CallCounter()
  const link = open()
  using device = link.device
  assert.equal(device.name, 'rxe0')
  counter.reset()
  link.pair.postSendList(Array.from({ length: WINDOW }, () => link.write))
  for (let done = 0; done < WINDOW; ) done += link.queue.poll(link.batch)
  assert.equal(counter.of('postSend'), 1)
})

test('posting and polling leave next to nothing on the heap', () => {
  const link = open()
  using device = link.device
  assert.equal(device.name, 'rxe0')
  for (let count = 0; count < WARM_WINDOWS; count += 1) playWindow(link, link.write)
  // The least of several runs: the engine compiles and collects when it likes.
  const perOperation = Array.from({ length: 8 }, () => {
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < WINDOWS; count += 1) playWindow(link, link.write)
    return (process.memoryUsage().heapUsed - before) / (WINDOW * WINDOWS)
  }).filter((bytes) => bytes >= 0)
  const least = Math.min(...perOperation)
  console.log(`${least.toFixed(1)} bytes of heap per operation`)
  assert.ok(least < 64, `${perOperation.map((bytes) => bytes.toFixed(1)).join(', ')} bytes per operation`)
})

test('a call is one request each way, and one in many calls gives credit back', async () => {
  using counter = new CallCounter()
  const address = process.env['AETHER_RDMA_ADDRESS']
  assert.ok(address)
  const service = defineService({
    name: 'cost',
    methods: { echo: unary({ request: type<Uint8Array>(), response: type<Uint8Array>() }) },
  })
  const server = createServer().serve(service, { echo: (bytes) => bytes })
  const { port } = await server.listen({ device: 'rxe0', address })
  const channel = openChannel({ device: 'rxe0', address, port })
  try {
    const client = channel.client(service)
    const body = new Uint8Array(32)
    await client.echo(body)
    counter.reset()
    const calls = 500
    for (let call = 0; call < calls; call += 1) await client.echo(body)
    console.log(
      `${counter.posted} requests in ${counter.of('postSend')} native calls for ${calls} calls there and back`,
    )
    assert.ok(counter.posted >= 2 * calls && counter.posted < 2.1 * calls, `${counter.posted} requests`)
    assert.ok(counter.of('postReceive') < 0.1 * calls, `${counter.of('postReceive')} times receives`)
  } finally {
    await channel.close()
    await server.close()
  }
})

/**
 * Where nothing is profiled and nobody listens, the paths of requests and calls read no clock, publish nothing and keep
 * nothing.
 */
import assert from 'node:assert/strict'
import { Channel } from 'node:diagnostics_channel'
import { describe, it } from 'node:test'
import { native } from '../../src/native/index.ts'
import { setProfiling, threadProfile } from '../../src/profiling/index.ts'
import { defineService, serverStream, unary } from '../../src/rpc/index.ts'
import { CompletionBatch } from '../../src/verbs/index.ts'
import { serverPair } from '../rpc/support.ts'
import { Loopback } from '../verbs/loopback.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

/** Counts how often the clocks are read and events published, for as long as it is in scope. */
class Noise implements Disposable {
  readonly counts: Record<string, number> = {}
  readonly #undo: (() => void)[] = []

  constructor() {
    this.#count(native, 'monotonicNs')
    this.#count(process, 'hrtime')
    this.#count(performance, 'now')
    this.#count(Date, 'now')
    this.#count(Channel.prototype, 'publish')
  }

  #count(of: object, name: string): void {
    const call = (of as Record<string, (...values: unknown[]) => unknown>)[name]!
    const own = Object.getOwnPropertyDescriptor(of, name)
    const { counts } = this
    const value = function (this: unknown, ...values: unknown[]): unknown {
      counts[name] = (counts[name] ?? 0) + 1
      return call.apply(this, values)
    }
    // `hrtime.bigint` is the watchdog's, whose looks are its timer's and not of any path.
    Object.defineProperty(of, name, { value: Object.assign(value, call), configurable: true, writable: true })
    this.#undo.push(() => {
      if (own === undefined) delete (of as Record<string, unknown>)[name]
      else Object.defineProperty(of, name, own)
    })
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo()
  }
}

const service = defineService({ name: 'silent', methods: { ask: unary<never, never>({}), list: serverStream({}) } })

function playRequests(times: number): Record<string, number> {
  using ends = new Loopback()
  const write = ends.pair.prepareWrite({ local: ends.memory.subarray(0, 8), remote: ends.remote(4096) })
  const receive = ends.peer.prepareReceive({ local: ends.memory.subarray(64, 128) })
  const send = ends.pair.prepareSend({ local: ends.memory.subarray(0, 8) })
  const batch = new CompletionBatch(4)
  using noise = new Noise()
  for (let n = 0; n < times; n += 1) {
    receive.post(n)
    write.post(n)
    send.post(n)
    for (let done = 0; done < 2; ) done += ends.queue.poll(batch)
    while (ends.peerQueue.poll(batch) === 0);
  }
  return noise.counts
}

async function playCalls(times: number): Promise<Record<string, number>> {
  await using pair = serverPair((server) =>
    server.serve(service, {
      ask: () => undefined as never,
      *list() {
        yield undefined
      },
    }),
  )
  await pair.channel.ready()
  const client = pair.channel.client(service)
  using noise = new Noise()
  for (let n = 0; n < times; n += 1) {
    // A call with a time-out looks at the clock for that.
    await client.ask(undefined as never, { timeoutMs: Number.POSITIVE_INFINITY })
    for await (const _ of client.list());
  }
  return noise.counts
}

describe('nobody watches', () => {
  it('requests are posted and polled: no clock, no event, no figure', options, () => {
    const start = threadProfile()
    assert.deepEqual(playRequests(500), {})
    assert.deepEqual(threadProfile().since(start).counters(), [])
  })

  it('calls are made and answered: no clock, no event, no figure', async () => {
    const start = threadProfile()
    assert.deepEqual(await playCalls(100), {})
    assert.deepEqual(threadProfile().since(start).counters(), [])
  })
})

describe('profiled', () => {
  it('the same read the clock: for the first 64, then for one in 256', options, async () => {
    setProfiling(true)
    try {
      // WRITEs and SENDs, two times each, at its beginning and its end.
      assert.deepEqual(playRequests(500), { monotonicNs: 2 * 2 * (64 + 1) })
      // Calls at both ends, of two methods; the next that is timed would be the 256th.
      assert.equal((await playCalls(100))['monotonicNs'], 2 * 2 * 2 * 64)
    } finally {
      setProfiling(false)
    }
  })
})

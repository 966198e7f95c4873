import assert from 'node:assert/strict'
import test from 'node:test'
import { defineService, rdmaCall, type Server, type } from '../../../src/rpc/index.ts'
import { overSim } from './pairs.ts'

const store = defineService({
  name: 'store',
  methods: {
    sum: rdmaCall({ buffers: 'source', response: type<number>() }),
    /** Reads, and goes on. */
    hold: rdmaCall({ buffers: 'source' }),
  },
})

function serve(server: Server): void {
  server.serve(store, {
    async sum(_, { source }) {
      const bytes = new Uint8Array(source.length)
      await source.read(bytes)
      return bytes.reduce((sum, byte) => sum + byte, 0)
    },
    async hold(_, { source, signal }) {
      while (!signal.aborted) await source.read(new Uint8Array(source.length))
    },
  })
}

const networks = {
  // Each answer that overtakes another has the rest of the READ asked for once more, while the first one goes on.
  'answers that overtake each other': { jitterNs: 500, reorder: 0.02 },
  'packets that come twice': { duplicate: 0.2 },
} as const

for (const [name, network] of Object.entries(networks))
  for (const lending of ['window', 'registration'] as const)
    test(`a call's source is lent until nothing reads it any more: ${name}, ${lending}s`, async () => {
      for (const seed of [1, 2, 3, 4]) {
        const simulation = { advanceOnPoll: true, network }
        await using pair = await overSim(name, seed, lending, simulation, 0).open(serve)
        const client = pair.channel.client(store)
        await using buffer = await pair.channel.allocate(200_000)
        for (let call = 0; call < 8; call += 1) {
          buffer.bytes.fill(call)
          assert.equal(await client.sum(undefined, { source: buffer }), call * 200_000, `seed ${seed}, call ${call}`)
        }
        const abort = new AbortController()
        const cancelled = assert.rejects(client.hold(undefined, { source: buffer, signal: abort.signal }), /enough/)
        for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve))
        abort.abort(new Error('enough'))
        await cancelled
        assert.equal(await client.sum(undefined, { source: buffer }), 7 * 200_000, `seed ${seed}, at last`)
      }
    })

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import {
  bidirectional,
  clientStream,
  createServer,
  defineService,
  openChannel,
  serverStream,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

// biome-ignore lint/suspicious/noExplicitAny: clients of a contract that is wrong on purpose
type Anything = any

const here = { device: 'shm0', address: '127.0.0.1' } as const
const options = { skip: process.platform === 'linux' ? false : 'shm0 needs Linux' }
const shape = { request: type<number>(), response: type<number>() }

/** How each kind is made, served, and called until it has ended. */
const kinds = {
  unary: { method: unary(shape), handler: (value: number) => value, call: (client: Anything) => client.drifts(1) },
  'server-stream': {
    method: serverStream(shape),
    handler: async function* (value: number) {
      yield value
    },
    call: async (client: Anything) => {
      for await (const _ of client.drifts(1));
    },
  },
  'client-stream': {
    method: clientStream(shape),
    handler: async (values: AsyncIterable<number>) => {
      for await (const _ of values);
      return 0
    },
    call: (client: Anything) => client.drifts([1, 2, 3]),
  },
  bidirectional: {
    method: bidirectional(shape),
    handler: async function* (values: AsyncIterable<number>) {
      yield* values
    },
    call: async (client: Anything) => {
      for await (const _ of client.drifts([1, 2, 3]));
    },
  },
} as const

const contractOf = (kind: keyof typeof kinds) =>
  defineService({ name: 'drift', methods: { drifts: kinds[kind].method, steady: unary(shape) } })

for (const served of Object.keys(kinds) as (keyof typeof kinds)[])
  for (const called of Object.keys(kinds) as (keyof typeof kinds)[]) {
    if (served === called) continue
    test(
      `a call as ${called} of what is served as ${served} is refused; other calls of the connection go on`,
      options,
      async () => {
        let ran = false
        const handler: Anything = (...words: Anything[]) => {
          ran = true
          return (kinds[served].handler as Anything)(...words)
        }
        const handlers: Anything = { drifts: handler, steady: (value: number) => value }
        await using server = createServer().serve(contractOf(served), handlers)
        const { port } = await server.listen(here)
        await using channel = openChannel({ ...here, port })
        const client: Anything = channel.client(contractOf(called))
        const beside = client.steady(1)
        await assert.rejects(kinds[called].call(client), {
          code: 'ERR_AETHER_RPC_UNKNOWN_METHOD',
          outcome: 'refused',
          message: `drift/drifts: the server has it as ${served}, but the client calls it as ${called}; use the same contract at both ends`,
        })
        assert.equal(ran, false)
        assert.equal(await beside, 1)
        assert.equal(await client.steady(2), 2)
      },
    )
  }

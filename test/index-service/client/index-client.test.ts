/** A client of an index, at servers that answer as a test wants. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type ClientOptions, IndexClient } from '../../../src/index-service/client/index-client.ts'
import { IndexError } from '../../../src/index-service/errors.ts'
import {
  type IndexSight,
  indexService,
  type NodeCard,
  type Place,
} from '../../../src/index-service/node/index-contract.ts'
import type { CallLimits } from '../../../src/index-service/port.ts'
import { createServer, type Handlers, RpcError, type Server } from '../../../src/rpc/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { deferred, rejection, until } from '../../rpc/support.ts'

useRuntimeDirectory()
const where = { device: 'shm0', address: '127.0.0.1' }
const SHARDS = 4
const versionsOf = { keys: [Buffer.from('a')], db: 0 }
const patient: CallLimits = { timeoutMs: 60_000, signal: undefined }

interface FakeNode extends AsyncDisposable {
  readonly server: Server
  readonly card: NodeCard
  /** What it says of all. */
  sight: IndexSight
}

/** A node that holds all shards, as far as it says. */
async function fakeNode(rank: number, handlers: Partial<Handlers<typeof indexService>> = {}): Promise<FakeNode> {
  const unasked = () => assert.fail('it is not asked for that')
  const all = Object.keys(indexService.methods).map((name) => [name, unasked])
  const server = createServer().serve(indexService, {
    ...Object.fromEntries(all),
    look: () => node.sight,
    memory: () => undefined,
    versions: () => [rank],
    ...handlers,
  } as Handlers<typeof indexService>)
  const { port } = await server.listen(where)
  const place: Place = { ...where, port }
  const holds = Array.from({ length: SHARDS }, (_, shard) => ({ shard, table: -1 }))
  const card = { rank, processId: process.pid, machine: 'elsewhere', here: place, beyond: place, holds }
  const node = { server, card, sight: sightOf([card], rank), [Symbol.asyncDispose]: () => server.close() }
  return node
}

function sightOf(nodes: readonly NodeCard[], leader: number | undefined): IndexSight {
  const held = Array.from({ length: SHARDS }, (_, shard) => {
    return { shard, leader, configuration: undefined, sights: [], isDurable: false }
  })
  return { name: 'fake', shards: SHARDS, machine: 'elsewhere', nodes, held }
}

function clientOf(nodes: readonly FakeNode[], options: Partial<ClientOptions> = {}) {
  const places = () => nodes.map(({ card }) => card.here)
  const client = new IndexClient({ name: 'fake', places, inFlightMax: 1024, ...options })
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

const versionIn = (client: IndexClient, shard: number, limits: CallLimits = patient) =>
  client.ask(shard, limits, true, (node, options) => node.versions({ shard, ...versionsOf }, options))

test('shards that are looked for at the same time have one connection to a node, which ends with the client', async () => {
  await using node = await fakeNode(0)
  const client = clientOf([node])
  await Promise.all(Array.from({ length: SHARDS }, (_, shard) => versionIn(client, shard)))
  assert.equal(node.server.sessions, 1)
  await client.close()
  await until(() => node.server.sessions === 0)
})

test('a call without an end is sent on to a node that has not been met', async () => {
  await using leader = await fakeNode(1)
  await using before = await fakeNode(0, {
    versions: ({ shard }) => {
      before.sight = sightOf([before.card, leader.card], 1)
      throw indexService.error('moved', { shard })
    },
  })
  await using client = clientOf([before])
  await client.begin(patient)
  const endless = { timeoutMs: Number.POSITIVE_INFINITY, signal: undefined }
  assert.deepEqual(await versionIn(client, 0, endless), [1])
})

test('what cannot be looked up is an error of the call that needs it, and of none besides', async () => {
  await using node = await fakeNode(0)
  const failure = new Error('the directory cannot be read')
  let isReadable = true
  let isAsked = false
  await using client = clientOf([], {
    places: () => {
      isAsked = true
      if (isReadable) return [node.card.here]
      throw failure
    },
  })
  await client.begin(patient)
  isReadable = false
  isAsked = false
  // Looks of its own: no one waits for them.
  for (; !isAsked; await turn()) client.lookAgain(0)
  await turn()
  await using blind = clientOf([], {
    places: () => {
      throw failure
    },
  })
  const error = await rejection(blind.begin({ timeoutMs: 1, signal: undefined }))
  assert.ok(error instanceof IndexError && error.kind === 'UNREACHABLE' && error.cause === failure, String(error))
})

test('a call ends when its time is over or it is aborted, also while nodes are looked for', async () => {
  let gate: Promise<unknown> | undefined
  let isSilent = true
  await using node = await fakeNode(0, {
    look: async (_request, { signal }) => {
      signal.addEventListener('abort', () => {
        isSilent = false
      })
      await gate
      return node.sight
    },
    versions: ({ shard }) => {
      throw indexService.error('moved', { shard })
    },
  })
  await using client = clientOf([node])
  await client.begin(patient)
  const release = deferred()
  gate = release.promise
  try {
    const late = await rejection(versionIn(client, 0, { timeoutMs: 30, signal: undefined }))
    assert.ok(late instanceof IndexError && late.outcome === 'not-applied', String(late))
    const abort = new AbortController()
    const aborted = rejection(versionIn(client, 0, { ...patient, signal: abort.signal }))
    await turn()
    const reason = new Error('enough')
    abort.abort(reason)
    assert.equal(await aborted, reason)
    assert.ok(isSilent, 'they ended before the look did')
  } finally {
    release.resolve()
  }
})

test('answers of any length that a node gives are taken', async () => {
  const long = new Uint8Array(20 * 2 ** 20).fill(7)
  await using node = await fakeNode(0, { read: () => [long] })
  await using client = clientOf([node])
  await client.begin(patient)
  const [taken] = await client.ask(0, patient, true, ({ read }, options) =>
    read({ shard: 0, calls: [], watched: undefined, apart: false }, options),
  )
  assert.ok(Buffer.from(taken as Uint8Array).equals(long))
})

test('what became of a write is told, however it fails', async () => {
  let isAsked = false
  const gate = deferred()
  await using node = await fakeNode(0, {
    run: async () => {
      isAsked = true
      await gate.promise
      return []
    },
  })
  const client = clientOf([node])
  await client.begin(patient)
  const failed = async (error: Error) => {
    const seen = await rejection(client.ask(0, patient, false, () => Promise.reject(error)))
    assert.ok(seen instanceof IndexError, String(seen))
    return [seen.kind, seen.outcome]
  }
  const rpc = (code: string, outcome: 'refused' | 'failed' | 'unknown' | 'not-sent') =>
    new RpcError(`ERR_AETHER_RPC_${code}` as RpcError['code'], outcome, 'run', 'it failed')
  assert.deepEqual(await failed(rpc('OVERLOADED', 'refused')), ['BUSY', 'not-applied'])
  // An answer came, and there was no memory for it.
  assert.deepEqual(await failed(rpc('OVERLOADED', 'failed')), ['MEMORY', 'unknown'])
  assert.deepEqual(await failed(rpc('TOO_LARGE', 'failed')), ['UNREACHABLE', 'unknown'])
  assert.deepEqual(await failed(rpc('UNKNOWN_METHOD', 'refused')), ['UNREACHABLE', 'not-applied'])

  const writing = rejection(
    client.ask(0, patient, false, ({ run }, options) =>
      run({ shard: 0, calls: [], watched: undefined, apart: false }, options),
    ),
  )
  await until(() => isAsked)
  await client.close()
  const closed = await writing
  assert.ok(closed instanceof IndexError && closed.kind === 'CLOSED' && closed.outcome === 'unknown', String(closed))
  const later = await rejection(versionIn(client, 0))
  assert.ok(later instanceof IndexError && later.kind === 'CLOSED' && later.outcome === 'not-applied', String(later))
  gate.resolve()
})

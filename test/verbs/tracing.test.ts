import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../src/profiling/index.ts'
import { openSimulatedCluster } from '../../src/testing/index.ts'
import { Access, CompletionBatch, CompletionError, openDevice } from '../../src/verbs/index.ts'

const heard: TraceMessage[] = []
const listener = (message: unknown): void => void heard.push(message as TraceMessage)
before(() => {
  subscribe('aether:rdma', listener)
  setTraceLevel(TraceLevel.Trace)
})
after(() => {
  unsubscribe('aether:rdma', listener)
  setTraceLevel(TraceLevel.Info)
})

test('states of queue pairs, posts, completions and failures are told, with lengths and without keys, addresses or bytes', async () => {
  using cluster = openSimulatedCluster(7, { advanceOnPoll: true })
  using device = openDevice(cluster.device)
  using domain = device.createProtectionDomain()
  using memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
  using queue = device.createCompletionQueue({ depth: 16 })
  const options = { type: 'rc', sendQueue: queue, receiveQueue: queue } as const
  using one = domain.createQueuePair(options)
  using other = domain.createQueuePair(options)
  one.connect(other.endpoint)
  other.connect(one.endpoint)
  memory.bytes.fill(0x5a, 0, 64)
  const { address, remoteKey: key } = memory
  const local = memory.subarray(0, 64)
  await one.write({ local, remote: { address: address + 128, key } })
  await assert.rejects(one.write({ local, remote: { address, key: key ^ 1 } }), CompletionError)

  const of = (type: string): TraceMessage[] => heard.filter((message) => message.type === type)
  assert.equal(of('created').length, 2)
  assert.deepEqual(
    of('state')
      .filter(({ fields }) => fields['queuePair'] === one.number)
      .slice(0, 3)
      .map(({ fields }) => [fields['was'], fields['is']]),
    [
      ['RESET', 'INIT'],
      ['INIT', 'RTR'],
      ['RTR', 'RTS'],
    ],
  )
  const [post] = of('post')
  assert.deepEqual([post!.level, post!.fields['operation'], post!.fields['length']], [TraceLevel.Trace, 'Write', 64])
  assert.equal(of('completion')[0]!.fields['queuePair'], one.number)
  const [failed] = of('failed')
  assert.equal(failed!.level, TraceLevel.Warn)
  assert.equal(failed!.fields['queuePair'], one.number)
  assert.match(String(failed!.fields['status']), /RemoteAccess/)
  // Neither the key nor where the memory is; nothing that is not a name or a number.
  for (const { fields } of heard) {
    for (const value of Object.values(fields)) {
      assert.ok(value === undefined || ['string', 'number'].includes(typeof value))
      assert.ok(![key, key ^ 1, memory.localKey, address, address + 128].includes(value as number))
    }
  }
})

test('posts of another level cost no events', () => {
  setTraceLevel(TraceLevel.Info)
  const before = heard.length
  using cluster = openSimulatedCluster(7, {})
  using device = openDevice(cluster.device)
  using queue = device.createCompletionQueue({ depth: 16 })
  queue.poll(new CompletionBatch(4))
  assert.equal(heard.length, before)
})

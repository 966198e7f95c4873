import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { openPeers } from '../../src/messaging/index.ts'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../src/profiling/index.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('collectives begin and end in the trace, each rank its own', options, async () => {
  const heard: TraceMessage[] = []
  const listener = (message: unknown): void => void heard.push(message as TraceMessage)
  subscribe('aether:messaging', listener)
  setTraceLevel(TraceLevel.Debug)
  const all = [0, 1].map((number) => openPeers({ number, device: 'shm0' }))
  try {
    const addresses = await Promise.all(all.map((peers) => peers.listen({ address: '127.0.0.1' })))
    await Promise.all(all.map((peers) => peers.connectAll(addresses)))
    await Promise.all(
      all.map(async (peers) => {
        using group = peers.group()
        await group.allReduce(Float64Array.of(4711047110), 'sum')
        await group.allReduce(Float64Array.of(1), 'sum')
      }),
    )
  } finally {
    await Promise.all(all.map((peers) => peers.close()))
    unsubscribe('aether:messaging', listener)
    setTraceLevel(TraceLevel.Info)
  }
  const of = (type: string): unknown[] =>
    heard.filter((message) => message.type === type).map(({ fields }) => fields['code'])
  assert.deepEqual(of('collective'), [undefined, undefined, undefined, undefined])
  assert.deepEqual(of('collectiveEnd'), ['OK', 'OK', 'OK', 'OK'])
  // Whoever draws them tells them apart by that.
  const ids = heard.flatMap(({ slice }) => (slice?.phase === 'begin' ? slice.id : []))
  assert.equal(new Set(ids).size, 4, String(ids))
  assert.match(String(heard.find(({ type }) => type === 'collective')?.fields['call']), /allReduce/)
  assert.doesNotMatch(JSON.stringify(heard), /4711047110/)
})

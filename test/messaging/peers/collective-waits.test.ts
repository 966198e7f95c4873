import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import type { WatchdogMessage } from '../../../src/profiling/index.ts'
import { until } from '../../cluster/support.ts'

// Read when the rooms are loaded.
process.env['AETHER_WATCHDOG_MS'] = '150'
const { Mesh } = await import('./mesh.ts')
const heard: WatchdogMessage[] = []
subscribe('aether:watchdog', (message) => heard.push(message as WatchdogMessage))

async function told(pattern: RegExp): Promise<WatchdogMessage> {
  const find = (): WatchdogMessage | undefined => heard.find(({ text }) => pattern.test(text))
  await until(() => find() !== undefined, String(pattern))
  return find()!
}

test('an all-reduce to which a rank does not come is told of, with that rank, and no more once it has come', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const waiting = groups
    .slice(0, 2)
    .map((group) => group.allReduce(new Float64Array(1), 'sum', undefined, { algorithm: 'ring' }))
  const { text, wait } = await told(/allReduce.* at its rank 0/)
  assert.match(
    text,
    /^process \d+ has waited .* for allReduce.* of the group of peers 0, 1, 2 at its rank 0: rank 2 has yet to send its part/,
  )
  assert.equal(wait.kind, 'collective')
  const late = groups[2]!.allReduce(new Float64Array(1), 'sum', undefined, { algorithm: 'ring' })
  await Promise.all([...waiting, late])
})

test('a broadcast that a rank does not take is told of at its root', async () => {
  await using mesh = await Mesh.open(2)
  const [root, other] = mesh.groups()
  const data = new Float64Array(1 << 15)
  const sending = root!.broadcast(data)
  const { text } = await told(/broadcast.* at its rank 0/)
  assert.match(text, /rank 1 has yet to take what it is sent/)
  await Promise.all([sending, other!.broadcast(data.slice())])
})

test('a blocking collective tells of itself', async () => {
  await using mesh = await Mesh.open(2)
  const [group] = mesh.groups()
  assert.throws(() => group!.barrierSync({ timeoutMs: 1000 }), { code: 'ERR_AETHER_TIMEOUT' })
  const { text, wait } = await told(/barrier.* at its rank 0/)
  assert.match(text, /rank 1 has yet to send its part/)
  assert.equal(wait.kind, 'collective')
})

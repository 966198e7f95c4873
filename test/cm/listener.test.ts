import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listen } from '../../src/cm/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

test('a wait for a request has no end but its signal if timeoutMs is undefined', async (t) => {
  await using listener = await listen(where)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  const waiting = listener.next({ timeoutMs: undefined as unknown as number, signal: stop.signal })
  t.mock.timers.tick(60_000)
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
})

test('wrong options of a wait are refused, also where a request is there or the listener is closed', async () => {
  const listener = await listen(where)
  listener.close()
  await assert.rejects(listener.next({ timeoutMs: 0 }), { argument: 'timeoutMs' })
  assert.equal(await listener.next(), undefined)
})

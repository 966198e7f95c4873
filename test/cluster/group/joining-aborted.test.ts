import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import process from 'node:process'
import { test } from 'node:test'
import { join } from '../../../src/dsm/index.ts'
import { useRuntimeDirectory } from '../support.ts'

useRuntimeDirectory()
// A seed that does not answer is waited for as long.
process.env['AETHER_SILENCE_MS'] = '600000'

test('a process that does not want to join any more does not wait for a seed that says nothing', {
  timeout: 60_000,
}, async () => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const abort = new AbortController()
  const { port } = silent.address() as AddressInfo
  const joining = join({
    ...{ name: `silent-seed-${process.pid}`, seeds: [`127.0.0.1:${port}`] },
    ...{ timeoutMs: 600_000, signal: abort.signal },
  })
  const [socket] = (await once(silent, 'connection')) as [Socket]
  socket.resume()
  const ended = once(socket, 'close')
  abort.abort(new Error('enough'))
  await assert.rejects(joining, /enough/)
  await ended
  silent.close()
})

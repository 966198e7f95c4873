import { strict as assert } from 'node:assert'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect, listen } from '../../../src/cm/index.ts'
import { pidNamespace } from '../../../src/runtime/index.ts'

const base = mkdtempSync(join(tmpdir(), 'aether-test-'))
const meetings = join(base, 'run', 'cm')
const here = { device: 'shm0', address: '127.0.0.1' } as const

before(() => {
  process.env['AETHER_RUNTIME_DIRECTORY'] = join(base, 'run')
})

after(() => {
  rmSync(base, { recursive: true, force: true })
})

/** A process of its own that listens, or connects. */
async function startPeer(...words: string[]): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(fileURLToPath(new URL('../fixtures/peer.js', import.meta.url)), words)
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}

test('nothing is left when a listener is closed', async () => {
  const listener = await listen(here)
  assert.equal(readdirSync(meetings).length, 2)
  listener.close()
  assert.deepEqual(readdirSync(meetings), [])
})

test('connections between processes; the end of the peer’s process ends the connection', async () => {
  const { child, port } = await startPeer('listen')
  const connection = await connect({ ...here, port })
  const memory = connection.domain.allocate(64, 1)
  const arrived = connection.pair.receive({ local: memory.subarray(0, 64) })
  await connection.pair.send({ local: memory.subarray(0, 5) })
  assert.equal((await arrived).byteLength, 5)
  child.kill('SIGKILL')
  assert.equal(await connection.closed, 'lost')
  connection.close()
})

test('what killed listeners left is removed by the next process that listens', async () => {
  const killed = await Promise.all([startPeer('listen'), startPeer('listen'), startPeer('listen')])
  const { child: survivor, port } = await startPeer('listen')
  await Promise.all(
    killed.map(async ({ child }) => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }),
  )
  assert.ok(readdirSync(meetings).length >= 8, `${readdirSync(meetings)}`)
  const next = await startPeer('listen')
  const names = [port, next.port].flatMap((each) => [
    `tcp-127.0.0.1-${each}-${pidNamespace()}`,
    `tcp-127.0.0.1-${each}-${pidNamespace()}.lock`,
  ])
  assert.deepEqual(readdirSync(meetings).sort(), names.sort())
  using connection = await connect({ ...here, port })
  assert.ok(connection)
  for (const child of [survivor, next.child]) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
})

test('the place of a listener that was killed is taken over', async () => {
  const { child, port } = await startPeer('listen')
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  assert.ok(existsSync(join(meetings, `tcp-127.0.0.1-${port}-${pidNamespace()}`)))
  await assert.rejects(connect({ ...here, port }), { name: 'ConnectionRejectedError', reason: 'no-listener' })
  const listener = await listen({ ...here, port })
  const accepted = listener.next().then((request) => request?.accept())
  using connection = await connect({ ...here, port })
  assert.equal(connection.state, 'connected')
  ;(await accepted)?.close()
  listener.close()
  assert.equal(existsSync(join(meetings, `tcp-127.0.0.1-${port}-${pidNamespace()}`)), false)
  assert.equal(existsSync(join(meetings, `tcp-127.0.0.1-${port}-${pidNamespace()}.lock`)), false)
})

test('a peer that was killed in the middle of connecting is not waited for', async () => {
  const listener = await listen(here)
  const { child } = await startPeer('connect', String(listener.port))
  const request = await listener.next()
  assert.ok(request)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  // Either the request is known to be gone, or the accept finds out.
  await assert.rejects(request.accept(), { code: 'ERR_AETHER_CONNECTION' })
  listener.close()
})

test('a caller that talks nonsense, or says nothing, disturbs nobody', async () => {
  const listener = await listen(here)
  const path = join(meetings, `tcp-127.0.0.1-${listener.port}-${pidNamespace()}`)
  const nonsense = connectSocket(path)
  nonsense.on('error', () => undefined)
  nonsense.write(new Uint8Array(368).fill(7))
  const closed = once(nonsense, 'close')
  nonsense.resume()
  const silent = connectSocket(path)
  silent.on('error', () => undefined)
  await closed
  const accepted = listener.next().then((request) => request?.accept())
  using connection = await connect({ ...here, port: listener.port })
  using peer = await accepted
  assert.deepEqual([connection.state, peer?.state], ['connected', 'connected'])
  silent.destroy()
  listener.close()
})

test('a listener that is stopped is given up at the deadline', async () => {
  const { child, port } = await startPeer('listen')
  child.kill('SIGSTOP')
  try {
    await assert.rejects(connect({ ...here, port, timeoutMs: 500 }), { code: 'ERR_AETHER_TIMEOUT' })
  } finally {
    child.kill('SIGKILL')
  }
})

test('a peer that is stopped does not hold up a disconnect', async () => {
  const { child, port } = await startPeer('listen')
  using connection = await connect({ ...here, port })
  child.kill('SIGSTOP')
  try {
    await connection.disconnect({ timeoutMs: 200 })
    assert.equal(await connection.closed, 'local')
  } finally {
    child.kill('SIGKILL')
  }
})

test('hundreds of connections, one after the other and at once, leave no descriptor', async () => {
  const descriptors = (): number => readdirSync('/proc/self/fd').length
  const cycle = async (): Promise<void> => {
    const listener = await listen(here)
    const serving = (async () => {
      for await (const request of listener) {
        const connection = await request.accept()
        void connection.closed.then(() => connection.close())
      }
    })()
    for (let round = 0; round < 4; round += 1) {
      const connecting = Array.from({ length: 32 }, () => connect({ ...here, port: listener.port }))
      for (const connection of await Promise.all(connecting)) {
        await connection.disconnect()
        connection.close()
      }
    }
    listener.close()
    await serving
  }
  await cycle()
  const settled = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 50))
  await settled()
  const before = descriptors()
  await cycle()
  for (let turn = 0; turn < 100 && descriptors() > before; turn += 1) await settled()
  assert.ok(descriptors() <= before, `${descriptors()} descriptors, ${before} before`)
})

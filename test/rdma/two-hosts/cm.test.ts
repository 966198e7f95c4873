/** Connections to another host: one whose program is killed, one that stops answering. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '../../../src/cm/index.ts'
import { CompletionStatus } from '../../../src/verbs/index.ts'
import type { Program } from '../support/program.ts'
import { REMOTE_ADDRESS, RemoteHost } from '../support/remote-host.ts'

const device = 'rxe0'
const PATIENCE = { timeoutMs: 60_000 }
const peerProgram = fileURLToPath(new URL('../../cm/fixtures/peer.js', import.meta.url))

let remote: RemoteHost

before(async () => {
  remote = await RemoteHost.connect()
})

after(() => remote[Symbol.dispose]())

async function startPeer(): Promise<{ readonly program: Program; readonly port: number }> {
  const environment = [`AETHER_TEST_DEVICE=${device}`, `AETHER_TEST_ADDRESS=${REMOTE_ADDRESS}`]
  const program = remote.start('env', ...environment, process.execPath, peerProgram, 'listen')
  const [, port] = await program.until(/port (\d+)/)
  return { program, port: Number(port) }
}

/** A message there and back. */
async function echo(connection: Connection): Promise<void> {
  const memory = connection.domain.allocate(64, 1)
  const back = connection.pair.receive({ local: memory.subarray(32, 64) })
  await connection.pair.send({ local: memory.subarray(0, 7) })
  assert.equal((await back).byteLength, 7)
}

/** Nothing that RDMA sends from here arrives; the tests' own words do. */
function silence(): Disposable {
  const rules = [
    'tc qdisc replace dev eth0 root handle 1: prio',
    'tc qdisc replace dev eth0 parent 1:3 handle 30: netem loss 100%',
    'tc filter replace dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 4791 0xffff flowid 1:3',
  ]
  execFileSync('sh', ['-c', rules.join(' && ')])
  return {
    [Symbol.dispose]: () => {
      execFileSync('tc', ['qdisc', 'del', 'dev', 'eth0', 'root'])
    },
  }
}

function identifiers(): string {
  return execFileSync('rdma', ['resource', 'show', 'cm_id'], { encoding: 'utf8' }).trim()
}

test('messages go to another host and back; the end of the program there ends the connection', async () => {
  const { program, port } = await startPeer()
  using connection = await connect({ ...PATIENCE, device, address: REMOTE_ADDRESS, port })
  await echo(connection)
  program.kill('SIGKILL')
  assert.equal(await connection.closed, 'peer')
})

test('a host that says nothing any more: requests, disconnects and connects end, and nothing is left', async () => {
  const { port } = await startPeer()
  const before = identifiers()
  const to = { device, address: REMOTE_ADDRESS, port }
  {
    using connection = await connect({ ...PATIENCE, ...to, ackTimeout: 14, retryCount: 3 })
    await echo(connection)
    using _ = silence()
    const memory = connection.domain.allocate(64, 1)
    await assert.rejects(connection.pair.send({ local: memory.subarray(0, 7) }), {
      status: CompletionStatus.RetryExceeded,
    })
    await connection.disconnect({ timeoutMs: 2000 })
    assert.equal(await connection.closed, 'local')
    await assert.rejects(connect({ ...to, timeoutMs: 2000 }), { code: 'ERR_AETHER_TIMEOUT' })
    const startedMs = performance.now()
    connection.close()
    console.log(`closing towards silence took ${(performance.now() - startedMs).toFixed(0)} ms`)
  }
  assert.equal(identifiers(), before)
  using again = await connect({ ...PATIENCE, ...to })
  await echo(again)
  await again.disconnect()
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { startProgram } from '../support/program.ts'
import { RemoteHost } from '../support/remote-host.ts'

test('the cable carries RDMA between the hosts', async () => {
  using remote = await RemoteHost.connect()
  using server = startProgram('rping', '-s', '-a', '10.9.0.1', '-C', '3', '-v')
  // The server does not say when it listens.
  using client = remote.start('sh', '-c', 'until rping -c -a 10.9.0.1 -C 3 -v; do sleep 1; done')
  const [{ output }, end] = await Promise.all([server.finished(), client.finished()])
  assert.match(output, /server ping data: rdma-ping-2/)
  assert.equal(end.status, 0, end.output)
})

test('a program on the other host is told to end, and its end is reported', async () => {
  using remote = await RemoteHost.connect()
  const program = remote.start('sleep', '1000')
  program.kill('SIGTERM')
  assert.equal((await program.finished()).status, null)
})

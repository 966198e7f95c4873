import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { decodeAddress, encodeAddress } from '../../examples/pingpong/wire.ts'
import { type Program, startProgram } from '../rdma/support/program.ts'
import { root } from '../repository/checkout.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

function pingpong(...words: readonly string[]): Program {
  return startProgram(process.execPath, join(root, 'dist/examples/pingpong/main.js'), '-n', '200', ...words)
}

/** Server and client, each with options of its own; what they say at the end. */
async function playBoth(server: readonly string[], client: readonly string[]) {
  using listener = pingpong('-p', '0', ...server)
  const [, port = ''] = await listener.until(/listening on port (\d+)/)
  using caller = pingpong('-p', port, ...client, '127.0.0.1')
  return await Promise.all([listener.finished(), caller.finished()])
}

test('an address is written as rdma-core writes it', () => {
  const endpoint = { localIdentifier: 0x1f, queuePairNumber: 0x12ab, psn: 0xfffffe, gid: 0xffff0a090001n }
  const text = '001f:0012ab:fffffe:00000000000000000000ffff0a090001\0'
  assert.equal(encodeAddress(endpoint).toString('latin1'), text)
  assert.deepEqual(decodeAddress(Buffer.from(text)), endpoint)
})

test('what is no address is refused', () => {
  for (const text of ['', 'done\0', 'x'.repeat(52)])
    assert.throws(() => decodeAddress(Buffer.from(text)), /not an address/)
})

for (const type of ['rc', 'uc', 'ud', 'srq']) {
  test(
    `two of them play ${type} on shm0, one spinning and one sleeping, and the bytes come back`,
    options,
    async () => {
      const words = ['--type', type, '-s', '1024', '-q', '1']
      const [server, client] = await playBoth([...words, '--events'], [...words, '--check'])
      assert.equal(client.status, 0, client.output)
      assert.equal(server.status, 0, server.output)
      assert.match(client.output, /"sent":200,"received":200,"checked":200/)
    },
  )
}

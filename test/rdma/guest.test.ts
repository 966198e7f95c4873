import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { startProgram } from './support/program.ts'

const port = '/sys/class/infiniband/rxe0/ports/1'

test('the guest has an active RDMA device whose GID 1 is its IPv4 address', () => {
  assert.match(readFileSync(`${port}/state`, 'utf8'), /ACTIVE/)
  assert.equal(readFileSync(`${port}/gids/1`, 'utf8').trim(), '0000:0000:0000:0000:0000:ffff:0a09:0001')
  assert.match(readFileSync(`${port}/gid_attrs/types/1`, 'utf8'), /RoCE v2/)
})

test('the guest reaches itself over its device', async () => {
  using server = startProgram('ibv_rc_pingpong', '-d', 'rxe0', '-g', '1', '-n', '10')
  await server.until(/local address/)
  using client = startProgram('ibv_rc_pingpong', '-d', 'rxe0', '-g', '1', '-n', '10', '10.9.0.1')
  const ends = await Promise.all([server.finished(), client.finished()])
  assert.deepEqual(
    ends.map(({ status }) => status),
    [0, 0],
  )
})

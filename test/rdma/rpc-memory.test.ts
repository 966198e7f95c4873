import assert from 'node:assert/strict'
import test from 'node:test'
import { callCases } from '../rpc/rdma/call-cases.ts'
import { fenceCases } from '../rpc/rdma/fence-cases.ts'
import { overDevice } from '../rpc/rdma/pairs.ts'
import { stationCases } from '../rpc/rdma/station-cases.ts'

const place = { device: 'rxe0', address: process.env['AETHER_RDMA_ADDRESS'] ?? '' }
const ground = overDevice('soft-RoCE', place, 'auto', 2_200_001)

test('over soft-RoCE memory is lent by registrations, since its windows are no bound', async () => {
  await using pair = await ground.open(() => undefined)
  assert.equal(pair.clientLink.lending.means, 'registration')
})

test('over a real device: calls with buffers', (t) => callCases(t, ground))

test('over a real device: the end of a call with buffers', (t) => fenceCases(t, ground))

test('over a real device: calls with buffers between two processes', (t) =>
  stationCases(t, place.device, place.address))

import test from 'node:test'
import { overDevice } from '../rpc/rdma/pairs.ts'
import { semanticsCases } from '../rpc/semantics-cases.ts'

const ground = overDevice(
  'soft-RoCE',
  { device: 'rxe0', address: process.env['AETHER_RDMA_ADDRESS'] ?? '' },
  'auto',
  300_000,
)

test('over a real device: calls mean the same', (t) => semanticsCases(t, ground))

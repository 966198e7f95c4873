import test from 'node:test'
import { bodyCases } from '../rpc/rdma/body-cases.ts'
import { overDevice } from '../rpc/rdma/pairs.ts'

const place = { device: 'rxe0', address: process.env['AETHER_RDMA_ADDRESS'] ?? '' }

test('over a real device: long bodies', (t) => bodyCases(t, overDevice('soft-RoCE', place, 'auto', 2_200_001)))

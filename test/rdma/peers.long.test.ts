/** Four processes, whose start takes a minute in an emulated guest. On shm the same is tried at each commit. */
import test from 'node:test'
import { killOneOfFour } from '../messaging/peers/kill-one.ts'

const device = 'rxe0'
const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''

test('over a real device: one of four processes is killed in a collective, the others are told which, and go on', (t) =>
  killOneOfFour(t, device, address))

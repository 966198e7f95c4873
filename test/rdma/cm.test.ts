import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { formatConnectionReport, runConnectionConformance } from '../../src/testing/index.ts'

const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
const address6 = process.env['AETHER_RDMA_ADDRESS6'] ?? ''

/** In the guest's network, and nobody's. */
const SILENT_ADDRESS = '10.9.0.77'

test('the connection manager conforms over an RDMA device', async () => {
  const report = await runConnectionConformance({ device: 'rxe0', address, address6, silentAddress: SILENT_ADDRESS })
  console.log(formatConnectionReport(report))
  assert.equal(report.failed, 0)
})

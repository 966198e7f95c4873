import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { connectionCases, formatConnectionReport, runConnectionConformance } from '../../src/testing/index.ts'

const NO_DATAGRAMS = 'the device has no queue pairs of type ud yet'
const allowUnsupported: Readonly<Record<string, string>> = {
  'a datagram service is found, with its queue pair and queue key': NO_DATAGRAMS,
  'a datagram service that says no, and one that is not there': NO_DATAGRAMS,
}

test('the connection manager conforms over shm', async () => {
  const setup = { device: 'shm0', address: '127.0.0.1', address6: '::1', allowUnsupported }
  const report = await runConnectionConformance(setup)
  console.log(formatConnectionReport(report))
  assert.equal(report.failed, 0)
  assert.equal(report.results.length, connectionCases.length)
})

test('every case has a name of its own and a source', () => {
  assert.equal(new Set(connectionCases.map((each) => each.name)).size, connectionCases.length)
  for (const each of connectionCases) assert.ok(each.rule.length > 0, each.name)
})

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { connectionCases, formatConnectionReport, runConnectionConformance } from '../../src/testing/index.ts'

test('the connection manager conforms over shm', async () => {
  const setup = { device: 'shm0', address: '127.0.0.1', address6: '::1' }
  const report = await runConnectionConformance(setup)
  console.log(formatConnectionReport(report))
  assert.equal(report.failed, 0)
  assert.equal(report.results.length, connectionCases.length)
})

test('every case has a name of its own and a source', () => {
  assert.equal(new Set(connectionCases.map((each) => each.name)).size, connectionCases.length)
  for (const each of connectionCases) assert.ok(each.rule.length > 0, each.name)
})

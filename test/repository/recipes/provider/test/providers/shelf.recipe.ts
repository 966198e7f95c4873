import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformanceCases, formatReport, runProviderConformance } from '../../src/testing/index.ts'

/** What needs no queue pair. */
const supported = /^a completion queue (holds at least|deeper than)/

test('a shelf conforms as far as it goes', async () => {
  const others = conformanceCases.filter(({ name }) => !supported.test(name))
  const report = await runProviderConformance({
    provider: 'shelf',
    device: 'shelf0',
    placement: 'one-process',
    allowUnsupported: Object.fromEntries(others.map(({ name }) => [name, 'nothing moves on a shelf'])),
  })
  assert.equal(report.failed, 0, formatReport(report))
  assert.ok(report.passed >= conformanceCases.length - others.length)
})

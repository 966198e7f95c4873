/** The conformance suite on rxe0, with the table of what passed, what rxe does not have, and what it does otherwise. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { conformanceCases, formatReport, runProviderConformance } from '../../src/testing/index.ts'
import { rxeDifferences, rxeUnsupported } from './rxe-differences.ts'

// Both ends in one process: the kernel carries the messages in any case, and a guest is slow.
test('ibverbs conforms on rxe0', async () => {
  const report = await runProviderConformance({
    provider: 'ibverbs',
    device: 'rxe0',
    placement: 'one-process',
    allowUnsupported: rxeUnsupported,
    allowDifferent: rxeDifferences,
  })
  console.log(formatReport(report))
  assert.equal(report.failed, 0)
  assert.equal(report.results.length, conformanceCases.length)
})

test('what rxe is excused for are cases that there are', () => {
  const names = new Set(conformanceCases.map((each) => each.name))
  for (const name of [...Object.keys(rxeDifferences), ...Object.keys(rxeUnsupported)]) assert.ok(names.has(name), name)
})

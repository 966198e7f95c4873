import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { conformanceCases, formatReport } from '../../../src/testing/index.ts'
import { conform } from './simulated-conformance.ts'

test('sim conforms, and nothing is unsupported', async () => {
  const report = await conform(1, {})
  const wrong = report.results.filter(({ outcome }) => outcome !== 'passed')
  assert.deepEqual(wrong, [], formatReport({ ...report, results: wrong }))
  assert.equal(report.results.length, conformanceCases.length)
})

import assert from 'node:assert/strict'
import { conformanceCases, formatReport, type Placement, runProviderConformance } from '../../../src/testing/index.ts'
import { rxeDifferences, rxeUnsupported } from '../rxe-differences.ts'

/** The whole suite on rxe0; prints the table of what passed, what rxe does not have, and what it does otherwise. */
export async function expectConformance(placement: Placement): Promise<void> {
  const report = await runProviderConformance({
    provider: 'ibverbs',
    device: 'rxe0',
    placement,
    allowUnsupported: rxeUnsupported,
    allowDifferent: rxeDifferences,
  })
  console.log(formatReport(report))
  assert.equal(report.failed, 0)
  assert.equal(report.results.length, conformanceCases.length)
}

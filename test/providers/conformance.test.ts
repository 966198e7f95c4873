import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { conformanceCases, formatReport, type Placement, runProviderConformance } from '../../src/testing/index.ts'

/** Cases that the shm provider may answer with Unsupported, and why. It may answer none. */
const allowUnsupported: Readonly<Record<string, string>> = {}

for (const placement of ['one-process', 'two-processes'] satisfies Placement[]) {
  test(`shm conforms, both ends in ${placement.replace('-', ' ')}`, async () => {
    const report = await runProviderConformance({ provider: 'shm', device: 'shm0', placement, allowUnsupported })
    console.log(formatReport(report))
    assert.equal(report.failed, 0)
    assert.equal(report.results.length, conformanceCases.length)
  })
}

test('the suite is as large as promised, and every case has a name of its own and a source', () => {
  assert.ok(conformanceCases.length >= 200, `${conformanceCases.length} cases`)
  assert.equal(new Set(conformanceCases.map((each) => each.name)).size, conformanceCases.length)
  for (const each of conformanceCases) assert.ok(each.rule.length > 0, each.name)
})

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { rateLimitCases } from '../../src/testing/conformance/cases/rate-limits.ts'
import {
  type ConformanceSetup,
  conformanceCases,
  formatReport,
  type Placement,
  runProviderConformance,
  type Until,
} from '../../src/testing/index.ts'
import { drawn } from '../support/drawn.ts'

/** Cases that the shm provider may answer with Unsupported, and why. */
const allowUnsupported: Readonly<Record<string, string>> = Object.fromEntries(
  rateLimitCases.map(({ name }) => [name, 'the processor that posts copies, so there is nothing to pace']),
)

const placements: readonly Placement[] = ['one-process', 'two-processes']
// On other versions of Node.js they are drawn, too: see scripts/test-node-versions.mjs.
for (const placement of drawn(placements, 1)) {
  test(`shm conforms, both ends in ${placement.replace('-', ' ')}`, async () => {
    const report = await runProviderConformance({ provider: 'shm', device: 'shm0', placement, allowUnsupported })
    console.log(formatReport(report))
    assert.equal(report.failed, 0)
    assert.equal(report.results.length, conformanceCases.length)
  })
}

test('a device that is known to stay silent is not waited for as long as others', async () => {
  const only = 'posts in ERR are taken and flushed'
  const patience = async (allowDifferent: ConformanceSetup['allowDifferent']): Promise<number> => {
    const deadlines: number[] = []
    const until: Until = async (holds, deadlineMs) => {
      deadlines.push(deadlineMs)
      while (!(await holds())) await new Promise(setImmediate)
    }
    const setup = { provider: 'shm', device: 'shm0', placement: 'one-process', only, until } as const
    const report = await runProviderConformance({ ...setup, ...(allowDifferent && { allowDifferent }) })
    assert.deepEqual([report.passed, report.results.length], [1, 1])
    return Math.max(...deadlines)
  }
  const behaviour = 'it does nothing'
  assert.equal(await patience(undefined), 10_000)
  assert.equal(await patience({ [only]: { behaviour, failure: /refused/ } }), 10_000)
  assert.equal(await patience({ [only]: { behaviour, failure: /did not happen within/ } }), 2000)
})

test('the suite is as large as promised, and every case has a name of its own and a source', () => {
  assert.ok(conformanceCases.length >= 200, `${conformanceCases.length} cases`)
  assert.equal(new Set(conformanceCases.map((each) => each.name)).size, conformanceCases.length)
  for (const each of conformanceCases) assert.ok(each.rule.length > 0, each.name)
})

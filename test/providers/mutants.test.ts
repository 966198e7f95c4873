import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { mutants } from './fixtures/mutants.ts'
import { runConformance, testNotices } from './fixtures/notices.ts'

test('without a seeded bug the program passes', async () => {
  const { status, output } = await runConformance()
  assert.equal(status, 0, output)
})

// A run of the suite for each takes 5 seconds, so most of them are in mutants.long.test.ts.
testNotices(mutants.filter((_, index) => index % 6 === 0))

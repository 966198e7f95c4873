import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { drawn } from '../support/drawn.ts'
import { mutants } from './fixtures/mutants.ts'
import { runConformance, testNotices } from './fixtures/notices.ts'

test('without a seeded bug the program passes', async () => {
  const { status, output } = await runConformance()
  assert.equal(status, 0, output)
})

// A run of the suite for each takes 5 seconds, so most of them are in mutants.long.test.ts.
const all = mutants.filter((_, index) => index % 6 === 0)
const names = drawn(
  all.map(({ name }) => name),
  3,
)
testNotices(all.filter(({ name }) => names.includes(name)))

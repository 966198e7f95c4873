import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawn } from '../../support/drawn.ts'
import { passWithoutUserfault } from './without-userfault.ts'

/** Suites of coherent regions that are not about views, and how many pass; others are in the long test. */
const suites = [
  ['coherent-region', 24],
  ['ranges', 7],
] as const

for (const [suite, passes] of drawn(suites, 1))
  test(`everything but views works where userfaultfd is refused: ${suite}`, async () => {
    const said = await passWithoutUserfault([suite], passes)
    // Views cannot be had, and say why.
    assert.match(said, /# SKIP .*AETHER_USERFAULT=off forbids userfaultfd/)
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawn } from '../../support/drawn.ts'
import { passWithoutUserfault } from './without-userfault.ts'

// Suites of coherent regions that are not about views; others are in without-userfault.long.test.ts.
test('everything but views works where userfaultfd is refused', async () => {
  const said = await passWithoutUserfault(drawn(['coherent-region', 'ranges'], 1), 5)
  // Views cannot be had, and say why.
  assert.match(said, /# SKIP .*AETHER_USERFAULT=off forbids userfaultfd/)
})

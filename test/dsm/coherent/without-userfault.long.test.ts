import { test } from 'node:test'
import { passWithoutUserfault } from './without-userfault.ts'

test('placement and bounds work where userfaultfd is refused', async () => {
  await passWithoutUserfault(['region-placement', 'page-cache'], 15)
})

/** The conformance suite on rxe0, both ends in one process. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { conformanceCases } from '../../../src/testing/index.ts'
import { rxeDifferences, rxeUnsupported } from '../rxe-differences.ts'
import { expectConformance } from '../support/conformance.ts'

test('what rxe is excused for are cases that there are', () => {
  const names = new Set(conformanceCases.map((each) => each.name))
  for (const name of [...Object.keys(rxeDifferences), ...Object.keys(rxeUnsupported)]) assert.ok(names.has(name), name)
})

test('ibverbs conforms on rxe0, both ends in one process', () => expectConformance('one-process'))

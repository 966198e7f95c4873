import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConsensusError, type ConsensusErrorKind } from '../../../src/consensus/errors.ts'
import { IndexError } from '../../../src/index-service/errors.ts'
import { asIndexError } from '../../../src/index-service/node/replica-errors.ts'

test('whatever ends a call of a replica is an error of the index that says what became of it', () => {
  const seen = (kind: ConsensusErrorKind, outcome: 'applied' | 'not-applied' | 'unknown' | undefined) => {
    const cause = new ConsensusError(kind, 'it failed', { outcome })
    const error = asIndexError(cause)
    if (error === cause) return 'as it is'
    assert.ok(error instanceof IndexError && error.cause === cause)
    return `${error.kind} ${error.outcome}`
  }
  assert.equal(seen('TIMEOUT', 'not-applied'), 'TIMEOUT not-applied')
  assert.equal(seen('EXPIRED', 'unknown'), 'TIMEOUT unknown')
  assert.equal(seen('CLOSED', 'unknown'), 'CLOSED unknown')
  for (const kind of ['LOG_FULL', 'LOG_FAILED', 'DEVIATES', 'FORMAT', 'MACHINE'] as const) {
    assert.equal(seen(kind, 'unknown'), 'CLOSED unknown')
    assert.equal(seen(kind, undefined), 'CLOSED not-applied')
  }
  assert.equal(seen('REJECTED', 'applied'), 'as it is')
})

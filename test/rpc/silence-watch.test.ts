import assert from 'node:assert/strict'
import test from 'node:test'
import type { Session } from '../../src/rpc/session.ts'
import { SilenceWatch } from '../../src/rpc/silence-watch.ts'

/** A session of whose peer `lying` frames lie in the ring. */
function quietSession() {
  const seen = { received: 0, lying: 0, asked: 0, ended: 0 }
  const link = {
    poll(): void {
      seen.received += seen.lying
      seen.lying = 0
    },
    destroy: () => (seen.ended += 1),
  }
  const session = {
    get received() {
      return seen.received
    },
    link,
  }
  const watch = new SilenceWatch(session as unknown as Session, 'silent', () => (seen.asked += 1))
  return { seen, watch }
}

test('who was not heard for a turn is asked, and ends where nothing comes for another', () => {
  const { seen, watch } = quietSession()
  watch.turn()
  assert.deepEqual(seen, { received: 0, lying: 0, asked: 0, ended: 0 })
  watch.turn()
  assert.equal(seen.asked, 1)
  seen.received += 1
  watch.turn()
  watch.turn()
  assert.equal(seen.asked, 2)
  watch.turn()
  assert.equal(seen.ended, 1)
})

test('who has answered while this thread was held up has answered', () => {
  const { seen, watch } = quietSession()
  watch.turn()
  for (let round = 1; round < 5; round += 1) {
    watch.turn()
    assert.equal(seen.asked, round)
    seen.lying = 1
    watch.turn()
    assert.equal(seen.ended, 0)
  }
})

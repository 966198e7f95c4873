import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { test } from 'node:test'
import { FollowedSpace } from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

const directory = useRuntimeDirectory()

test('a look at a runtime directory that is refused says why, and finds the space when it is not any more', async () => {
  await using space = await open('shop')
  const source = new FollowedSpace('shop')
  try {
    chmodSync(directory, 0o777)
    assert.throws(() => source.check(), /is open to other users/)
    const refused = source.look()
    assert.equal(refused.running, false)
    assert.match(refused.problem ?? '', /is open to other users \(mode 777\); run: chmod 700/)
    chmodSync(directory, 0o700)
    source.check()
    // It looks for a space again when some time has passed.
    const later = new FollowedSpace('shop')
    const found = later.look()
    later.close()
    assert.deepEqual([found.running, found.problem, found.space], [true, undefined, space.name])
  } finally {
    chmodSync(directory, 0o700)
    source.close()
  }
})

test('a look without a name does not end in an error either', () => {
  const source = new FollowedSpace()
  try {
    chmodSync(directory, 0o777)
    assert.match(source.look().problem ?? '', /is open to other users/)
  } finally {
    chmodSync(directory, 0o700)
    source.close()
  }
})

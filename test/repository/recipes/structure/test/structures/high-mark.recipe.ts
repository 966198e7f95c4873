import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/structures/index.ts'

test('a high mark only rises, and all who open it see the same', async () => {
  await using space = await open(`high-mark-${process.pid}`)
  await using shared = await openStructures(space, { size: '1MiB' })
  const mark = await shared.highMark('longest')
  assert.equal(mark.raiseSync(7), 7)
  assert.equal(await (await shared.highMark('longest')).raise(5), 7)
  assert.equal(mark.raiseSync(9), 9)
  assert.deepEqual(shared.list(), [{ name: 'longest', kind: 'high mark' }])
  assert.throws(() => mark.raiseSync(-1), { argument: 'value' })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSpaceName } from '../../src/cluster/space-name.ts'

test('a name that can stand in a file name is accepted', () => {
  for (const name of ['shop', 'a', 'A.b-c_9', 'x'.repeat(100)]) assert.equal(checkSpaceName(name), name)
})

test('a name that could leave the directory, hide, or not be typed is refused', () => {
  for (const name of ['', '.', '..', '../x', 'a/b', '.hidden', '-rf', 'a b', 'a\0', 'é', 'x'.repeat(101)]) {
    assert.throws(() => checkSpaceName(name), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'name' }, name)
  }
})

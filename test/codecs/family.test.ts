import assert from 'node:assert/strict'
import test from 'node:test'
import * as rpc from '../../src/public/rpc.ts'
import * as structures from '../../src/public/structures.ts'

test('RPC and structures export the same codecs under the same names', () => {
  assert.equal(rpc.json, structures.json)
  assert.equal(rpc.bytes, structures.bytes)
})

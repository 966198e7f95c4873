import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { isOfThisMachine } from '../../src/runtime/index.ts'

test('an address of this machine is known in each of its forms, and others are not', () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  for (const { address, family } of own) {
    assert.equal(isOfThisMachine(address), true, address)
    if (family === 'IPv4') assert.equal(isOfThisMachine(`::ffff:${address}`), true, address)
  }
  for (const address of ['127.0.0.1', '127.0.1.1', '::1', '::1%lo', '::ffff:127.0.0.1'])
    assert.equal(isOfThisMachine(address), true, address)
  for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::9'])
    assert.equal(isOfThisMachine(address), false, address)
})

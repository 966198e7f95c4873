import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLayout } from '../../src/cm/rdmacm/layout.ts'
import { ATTRIBUTE_WORDS, EVENT_DATA_BYTES, EVENT_WORDS, PARAMETER_WORDS, rdmacmAddon } from '../../src/native/index.ts'

const addon = rdmacmAddon()
const skip = addon === undefined && 'the addon was built without <rdma/rdma_cma.h>'
const refused = { code: 'ERR_AETHER_INVALID_ARGUMENT' }

test('both sides of the addon mean the same words', { skip }, () => {
  const layout = addon!.layout()
  checkLayout(layout)
  for (const name of Object.keys(layout)) {
    const other = { ...layout, [name]: 1000 }
    assert.throws(() => checkLayout(other), { code: 'ERR_AETHER_NATIVE_MISMATCH' }, name)
  }
})

test('identifiers that are not there are refused by every call', { skip }, () => {
  const { load, destroyIdentifier, ...calls } = addon!
  if (load() !== '') return
  const words = new Float64Array(64)
  const data = new Uint8Array(8)
  for (const token of [0, 1, 7, -1, 1.5, 2 ** 32, Number.NaN]) {
    assert.throws(() => calls.bind(token, '127.0.0.1', 1), refused)
    assert.throws(() => calls.listen(token, 1), refused)
    assert.throws(() => calls.resolveAddress(token, '127.0.0.1', 1, 1), refused)
    assert.throws(() => calls.resolveRoute(token, 1), refused)
    assert.throws(() => calls.describe(token), refused)
    assert.throws(() => calls.connect(token, words, data), refused)
    assert.throws(() => calls.accept(token, words, data), refused)
    assert.throws(() => calls.reject(token, data), refused)
    assert.throws(() => calls.establish(token), refused)
    assert.throws(() => calls.disconnect(token), refused)
    assert.throws(() => calls.queuePairAttributes(token, 1, new Float64Array(ATTRIBUTE_WORDS)), refused)
    assert.throws(() => calls.joinMulticast(token, '239.1.1.1', 0), refused)
    assert.throws(() => calls.leaveMulticast(token, '239.1.1.1', 0), refused)
  }
  destroyIdentifier(7)
})

test('room that is too small for an event is refused', { skip }, () => {
  const { nextEvent } = addon!
  assert.throws(() => nextEvent(new Float64Array(EVENT_WORDS - 1), new Uint8Array(EVENT_DATA_BYTES)), refused)
  assert.equal(PARAMETER_WORDS < EVENT_WORDS, true)
})

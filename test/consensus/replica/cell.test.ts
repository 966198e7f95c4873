import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { CELL_HEADER_BYTES, EntryFlag, readCell, writeCell } from '../../../src/consensus/replica/cell.ts'

const entry = {
  index: 2 ** 52 + 7,
  term: 2 ** 32 - 1,
  timeMs: 1_750_000_000_123,
  flags: EntryFlag.Configuration,
  payload: Buffer.from('set a to 17'),
  acceptedIn: 4097,
  decided: 2 ** 52 + 3,
}

function cell(): Uint8Array {
  const bytes = new Uint8Array(128)
  assert.equal(writeCell(bytes, entry, entry), CELL_HEADER_BYTES + entry.payload.length)
  return bytes
}

test('an entry is read as it was written, with the term in which it was accepted', () => {
  const { payload, ...rest } = readCell(cell(), entry.index)!
  assert.deepEqual({ ...rest, payload: Buffer.from(payload) }, entry)
})

test('a payload may be empty, or fill the cell', () => {
  for (const length of [0, 128 - CELL_HEADER_BYTES]) {
    const bytes = new Uint8Array(128)
    writeCell(bytes, { ...entry, payload: new Uint8Array(length).fill(3) }, entry)
    assert.equal(readCell(bytes, entry.index)?.payload.length, length)
  }
})

test('what was read does not change with the cell', () => {
  const bytes = cell()
  const { payload } = readCell(bytes, entry.index)!
  bytes.fill(0)
  assert.equal(Buffer.from(payload).toString(), 'set a to 17')
})

test('every flipped bit is refused', () => {
  const length = CELL_HEADER_BYTES + entry.payload.length
  for (let byte = 0; byte < length; byte += 1)
    for (let bit = 0; bit < 8; bit += 1) {
      const bytes = cell()
      bytes[byte]! ^= 1 << bit
      assert.equal(readCell(bytes, entry.index), undefined, `bit ${bit} of byte ${byte}`)
    }
})

test('a cell of which only a part has arrived is refused', () => {
  const whole = cell()
  const length = CELL_HEADER_BYTES + entry.payload.length
  for (let arrived = 0; arrived < length; arrived += 1) {
    const bytes = new Uint8Array(128)
    bytes.set(whole.subarray(0, arrived))
    assert.equal(readCell(bytes, entry.index), undefined, `${arrived} bytes`)
    const late = new Uint8Array(128)
    late.set(whole.subarray(length - arrived, length), length - arrived)
    assert.equal(readCell(late, entry.index), undefined, `the last ${arrived} bytes`)
  }
})

test('another entry, and an empty cell, are refused', () => {
  assert.equal(readCell(cell(), entry.index + 1), undefined)
  assert.equal(readCell(new Uint8Array(128), 1), undefined)
  assert.equal(readCell(new Uint8Array(128), 0), undefined)
})

test('a length that goes beyond the cell is refused', () => {
  const bytes = cell()
  new DataView(bytes.buffer).setUint32(28, 2 ** 32 - 1, true)
  assert.equal(readCell(bytes, entry.index), undefined)
})

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { Data } from '../../../../tools/agreement/model/process.ts'
import {
  CellLayout,
  decodeCell,
  decodeHeads,
  type EncodedCell,
  encodeCell,
  SHORT_BYTES,
} from '../../../../tools/agreement/real/register-cell.ts'

const long = (letter: string): string => letter.repeat(SHORT_BYTES + 40)

/** What a reader finds in these bytes; undefined where it would look again. */
function read(bytes: Buffer, layout: CellLayout): Data | undefined {
  const heads = decodeHeads(bytes.subarray(0, layout.headsBytes), layout)
  if (heads.length === 0) return null
  for (const head of heads) {
    const at = layout.restAt(head.copy)
    const value = decodeCell(head, bytes.subarray(at, at + head.length - head.text.length))
    if (value !== undefined) return value
  }
  return undefined
}

/** The bytes in the order in which they are written, each with its place. */
function bytesOf({ copy, head, rest }: EncodedCell, layout: CellLayout): (readonly [at: number, byte: number])[] {
  const placed = (bytes: Uint8Array, at: number) => [...bytes].map((byte, index) => [at + index, byte] as const)
  return [...placed(rest, layout.restAt(copy)), ...placed(head, layout.headAt(copy))]
}

for (const [what, texts] of Object.entries({
  'short values': ['a', 'bb', 'c'],
  'long values': [long('a'), long('b'), long('c')],
  'a short one after a long one': [long('a'), 'b', long('c')],
}))
  test(`${what}: a writer that is killed after any byte leaves the value of before or the new one`, () => {
    const layout = new CellLayout(600, 2)
    let before = Buffer.alloc(layout.bytes)
    let last: Data = null
    for (const [index, value] of texts.entries()) {
      const written = bytesOf(encodeCell(value, index + 1, layout)!, layout)
      for (let count = 0; count <= written.length; count += 1) {
        const cut = Buffer.from(before)
        for (const [at, byte] of written.slice(0, count)) cut[at] = byte
        // What never gets whole is none.
        const found = read(cut, layout) ?? null
        assert.ok(found === last || found === value, `value ${index}, ${count} bytes: ${found}`)
        if (count === written.length) {
          assert.equal(found, value)
          before = cut
        }
      }
      last = value
    }
  })

test('in a register that is written once, what is not there in full is looked for again', () => {
  const layout = new CellLayout(600, 1)
  const written = bytesOf(encodeCell(long('a'), 1, layout)!, layout)
  const cut = Buffer.alloc(layout.bytes)
  const seen = new Set<Data | undefined>([read(cut, layout)])
  for (const [at, byte] of written) {
    cut[at] = byte
    seen.add(read(cut, layout))
  }
  assert.deepEqual([...seen], [null, undefined, long('a')])
})

test('what a liar leaves is no value: a wrong checksum, a wrong length, no JSON; nor is what is too long for a register', () => {
  const layout = new CellLayout(600, 1)
  const { head } = encodeCell('truth', 1, layout)!
  for (const at of [0, 4, 8, 17]) {
    const bytes = Buffer.alloc(layout.bytes)
    bytes.set(head)
    bytes[at]! ^= 1
    assert.notEqual(read(bytes, layout), 'truth', `byte ${at}`)
  }
  assert.equal(encodeCell('x'.repeat(600), 1, layout), undefined)
})

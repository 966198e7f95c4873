import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paintFor } from '../../../src/cli/output/paint.ts'
import { formatTable } from '../../../src/cli/output/table.ts'

test('columns are as wide as their widest cell, numbers to the right, no blanks at the end', () => {
  const lines = formatTable(
    [
      { title: 'name', align: 'left' },
      { title: 'n', align: 'right' },
      { title: 'remark', align: 'left' },
    ],
    [
      ['a', '1', ''],
      ['longer', '1,000', 'x'],
    ],
  )
  assert.deepEqual(lines, ['name        n  remark', 'a           1', 'longer  1,000  x'])
})

test('colours take no room, and are left out where nobody sees them', () => {
  const paint = paintFor({ isTTY: true }, {})
  const lines = formatTable(
    [
      { title: 'a', align: 'right' },
      { title: 'b', align: 'left' },
    ],
    [
      [paint('red', '1'), 'x'],
      ['22', 'y'],
    ],
  )
  assert.deepEqual(lines, [' a  b', ` ${paint('red', '1')}  x`, '22  y'])
  for (const [stream, environment] of [
    [{}, {}],
    [{ isTTY: true }, { NO_COLOR: '1' }],
    [{ isTTY: true }, { TERM: 'dumb' }],
  ] as const) {
    assert.equal(paintFor(stream, environment)('red', 'x'), 'x')
  }
})

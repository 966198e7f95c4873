import assert from 'node:assert/strict'
import { test } from 'node:test'
import { camel } from '../../src/arrays/functions/entry.ts'
import { FUNCTIONS } from '../../src/arrays/functions/table.ts'
import { readDocument } from '../repository/markdown.ts'

test('the page for those who know NumPy lists every function, by its names and with what it moves', () => {
  const rows = readDocument('docs/coming-from-numpy.md').matchAll(/^\| `([\w.]+)` \| `([\w.]+)` \| .* \| (\w+) \|$/gm)
  const listed = [...rows].map(([, here, name, moves]) => `${here} ${name} ${moves}`)
  const functions = FUNCTIONS.map(({ name, moves }) => {
    const path = name.split('.')
    return `${[...path.slice(0, -1), camel(path.at(-1)!)].join('.')} ${name} ${moves}`
  })
  assert.deepEqual(listed.sort(), functions.sort())
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  exactTolerance,
  sharedMemoryCut,
  toleranceByExpansion,
  vertexExpansion,
} from '../../../../tools/agreement/graph/expansion.ts'
import { graphNamed } from '../../../../tools/agreement/graph/graphs.ts'

const page = readFileSync('docs/agreement/hbo.md', 'utf8')

test('the table of docs/agreement/hbo.md says what is computed', () => {
  const rows = [...page.matchAll(/^\| ([a-z0-9-]+) \| (\d+) \| .*$/gm)].map(([row, name, processes]) => ({
    row,
    name: name!,
    processes: Number(processes),
  }))
  assert.ok(rows.length >= 10)
  for (const { row, name, processes } of rows) {
    const graph = graphNamed(name, processes)
    const expansion = vertexExpansion(graph)
    const impossible = [...graph.keys()].find((crashes) => sharedMemoryCut(graph, crashes) !== undefined)
    const cells = [
      name,
      processes,
      Math.max(...graph.map(({ length }) => length)),
      expansion.toFixed(2),
      toleranceByExpansion(processes, expansion),
      exactTolerance(graph),
      impossible ?? 'never',
    ]
    assert.equal(row, `| ${cells.join(' | ')} |`)
  }
})

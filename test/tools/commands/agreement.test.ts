import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'
import { drawn } from '../../support/drawn.ts'

const readme = readFileSync('docs/agreement/README.md', 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'aether-agreement-'))

test('without a name: tables of all', () => {
  const { status, stdout } = aether('agreement', '--processes', '4')
  assert.equal(status, 0)
  assert.match(stdout, /^algorithm +failures +P +M +delays +messages +writes/)
  assert.match(stdout, /^disk-paxos +crash +3 of 4 +1 of 3 +4 +0 +3 +3 +0 +0$/m)
  assert.match(stdout, /^hypercube +2 +1\.00 +2 +3 +never +6 +\d+ +\d+$/m)
  assert.match(stdout, /^omega-reliable +3 of 4 +5 +15 +0$/m)
})

test('the table of docs/agreement/README.md says what is measured', () => {
  const { stdout } = aether('agreement', '--json', '--processes', '3')
  const measured = JSON.parse(stdout) as Record<string, Readonly<Record<string, string | number>>[]>
  type Named = Readonly<Record<string, string | number | undefined>>
  const complete = measured['hbo']!.find((row) => row['hbo on'] === 'complete')!
  const named: Named[] = [
    ...measured['algorithms']!.map((row) => ({ ...row, name: row['algorithm'] })),
    { ...complete, name: 'hbo' },
    ...measured['elections']!.map((row) => ({ ...row, name: row['election'] })),
  ]
  const expected = named.map((row) => {
    const counted = ['messages', 'writes', 'reads', 'claims', 'permissions', 'signatures']
      .filter((what) => Number(row[what] ?? 0) > 0)
      .map((what) => `${row[what]} ${row[what] === 1 ? what.slice(0, -1) : what}`)
    if (row['afterwards'] !== undefined) counted.push(`${row['afterwards']} afterwards`)
    return `${row['name']} | ${row['delays']} | ${counted.join(', ')}`
  })
  const rows = [...readme.matchAll(/^\| \[?`([\w-]+)`\S* \|.*\| (\d+) \| ([^|]+) \|$/gm)]
  assert.deepEqual(
    rows.map(([, name, delays, operations]) => `${name} | ${delays} | ${operations}`),
    expected,
  )
})

test('the pictures of docs/agreement are as the commands draw them that the pages name', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/agreement-pictures.mjs', '--check'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^[5-9] pictures$/m)
})

test('the session of docs/agreement/README.md prints that', () => {
  const command = /^npx aether-dsm (agreement .* --page )play\.html$/m.exec(readme)![1]!
  const shown = /\n```\n(P1 decides[\s\S]*?)```\n/.exec(readme)![1]!
  const page = join(folder, 'play.html')
  assert.equal(aether(...command.trim().split(' '), page).stdout.replace(page, 'play.html'), shown)
})

test('as JSON, the tables are lists', () => {
  const { stdout } = aether('agreement', '--json', '--processes', '4')
  const { algorithms, hbo, elections } = JSON.parse(stdout) as Record<string, Readonly<Record<string, unknown>>[]>
  assert.deepEqual(
    algorithms!.find((row) => row['algorithm'] === 'disk-paxos'),
    {
      algorithm: 'disk-paxos',
      failures: 'crash',
      P: '3 of 4',
      M: '1 of 3',
      delays: 4,
      messages: 0,
      writes: 3,
      reads: 3,
      permissions: 0,
      signatures: 0,
    },
  )
  assert.deepEqual(
    hbo!.map((row) => row['hbo on']),
    ['none', 'ring', 'hypercube', 'random-3', 'margulis', 'complete'],
  )
  assert.deepEqual(
    elections!.map((row) => row['afterwards']),
    [0, 0],
  )
})

test('one is drawn, and what came of it is said', () => {
  const { status, stdout } = aether('agreement', 'protected-memory-paxos', '--kill', 'P0@1')
  assert.equal(status, 0)
  assert.match(stdout, /^delays {3}P0 {3}P1 {3}P2 {3}M0 {3}M1 {3}M2\n/)
  assert.match(
    stdout,
    /\n\nP1 decides v0 at 14 delays\nP2 decides v0 at 15 delays\nin all: 2 messages, 9 writes, 3 reads, 3 permissions\n$/,
  )
})

test('too many crashes: status 1, and who did not decide', () => {
  const { status, stderr } = aether('agreement', 'disk-paxos', '--kill', 'M0,M1')
  assert.equal(status, 1)
  assert.match(stderr, /3 of 3 processes did not decide/)
})

test('--page writes a page, or only the picture', () => {
  const [page, picture] = [join(folder, 'play.html'), join(folder, 'play.svg')]
  const { status, stdout } = aether('agreement', 'fast-and-robust', '--page', page)
  assert.equal(status, 0)
  assert.match(stdout, /^P0 decides v0 at 2 delays\n[\s\S]*play\.html: 92 events, to be opened in a browser\n$/)
  const html = readFileSync(page, 'utf8')
  assert.match(
    html,
    /^<!doctype html>[\s\S]*<h1>Fast &#38; Robust<\/h1>[\s\S]*<code>aether agreement fast-and-robust --page /,
  )
  assert.equal(html.match(/ data-at="/g)?.length, 92)
  aether('agreement', 'fast-and-robust', '--page', picture)
  assert.match(readFileSync(picture, 'utf8'), /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" class="space-time"/)
})

test('a seed may have a page, too', () => {
  const page = join(folder, 'seed.html')
  const { status } = aether('agreement', 'robust-backup', '--seed', '3', '--page', page)
  assert.equal(status, 0)
  assert.match(readFileSync(page, 'utf8'), /<li>P1 is two-faced<\/li>/)
})

test('a page that cannot be written is an error that names it', () => {
  const { status, stderr } = aether('agreement', 'paxos', '--page', join(folder, 'none', 'play.html'))
  assert.equal(status, 1)
  assert.match(stderr, /ENOENT.*none\/play\.html/)
})

test('hbo: on a graph, with what it withstands', () => {
  const { status, stdout } = aether('agreement', 'hbo', '--graph', 'ring', '--processes', '8', '--kill', 'P0,P3@2,P5')
  assert.equal(status, 0)
  assert.match(
    stdout,
    /\nring of 8: withstands 5 crashes, and by its expansion 0\.50 at least 5\n5 that are up represent 8 of 8\n/,
  )
})

test('hbo: where no majority is represented, no one decides', () => {
  const { status, stdout, stderr } = aether(
    'agreement',
    'hbo',
    '--graph',
    '0-1,2-3',
    '--processes',
    '4',
    '--kill',
    'P2,P3',
  )
  assert.equal(status, 1)
  assert.match(stdout, /2 that are up represent 2 of 4/)
  assert.match(stderr, /2 of 4 processes did not decide/)
})

for (const name of ['omega-reliable', 'omega-fair-lossy'])
  test(`${name}: who leads whom, and no message once it is stable`, () => {
    const { status, stdout } = aether('agreement', name, '--kill', 'P0@40', '--processes', '4')
    assert.equal(status, 0)
    assert.match(stdout, /P1, P2, P3 take P1 for the leader\n/)
    assert.match(
      stdout,
      /watched from 240 to 340 delays, when it has to be stable: 0 messages, [1-9]\d* writes, [1-9]\d* reads\n/,
    )
  })

test('omega-fair-lossy: a seed draws lost messages, and all still agree', () => {
  const { status, stdout } = aether('agreement', 'omega-fair-lossy', '--seed', '5')
  assert.equal(status, 0)
  assert.match(stdout, /lost: \{look:true\}/)
  assert.match(stdout, /take P2 for the leader\n/)
})

const wrong: readonly (readonly [args: readonly string[], advice: RegExp])[] = [
  [['raft'], /there is no algorithm 'raft'; see 'aether agreement --help'/],
  [['paxos', '--kill', 'P3'], /--kill takes P0 to P2 and M0 to M2, as in P0@3, not 'P3'/],
  [['disk-paxos', '--memories', '0'], /disk-paxos: it needs a memory at least/],
  [['paxos', '--graph', 'ring'], /--graph is for hbo, omega-reliable, omega-fair-lossy: leave it out/],
  [['hbo', '--memories', '2'], /in hbo each process has a memory: leave out --memories/],
  [['hbo', '--graph', 'torus'], /--graph torus: there is no graph 'torus': take one of complete, ring/],
  [['hbo', '--graph', 'hypercube'], /a hypercube has a power of two of processes, and 3 is not one/],
  [['omega-reliable', '--graph', 'ring', '--processes', '4'], /the graph has to be complete/],
  [['paxos', '--seed', '1', '--kill', 'P0'], /--kill is for a timely play: a seed draws crashes itself/],
  [['paxos', '--seed', '1', '--processes', '4'], /--processes is for a timely play/],
  [['--page', 'play.html'], /--page is about one algorithm: name it/],
]
for (const args of drawn(
  wrong.map(([args]) => args),
  4,
))
  test(`agreement ${args.join(' ')}: status 2, and what to type instead`, () => {
    const [, advice] = wrong.find(([wrongArgs]) => wrongArgs === args)!
    const { status, stderr } = aether('agreement', ...args)
    assert.equal(status, 2)
    assert.match(stderr, advice)
  })

test('--help names every algorithm', () => {
  const { stdout } = aether('agreement', '--help')
  for (const name of ['paxos', 'disk-paxos', 'fast-and-robust', 'hbo', 'omega-reliable', 'omega-fair-lossy'])
    assert.match(stdout, new RegExp(`^ {2}${name} +withstands `, 'm'))
})

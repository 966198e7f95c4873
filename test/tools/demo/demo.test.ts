import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { availableMemory } from '../../../src/dsm/index.ts'
import { aether } from '../../cli/command-line.ts'
import { codeBlocks, readDocument } from '../../repository/markdown.ts'
import { demoAsJson } from './outcome.ts'

const skip = process.platform === 'linux' ? false : 'spaces need Linux'
const folder = mkdtempSync(join(tmpdir(), 'aether-demo-'))
after(() => rmSync(folder, { recursive: true }))

/** A line as it is in every run: without its figures. */
const withoutFigures = (line: string) => line.replaceAll(/\d[\d.,]*(?: [nµm]?s\b|x\b)?/g, '#').replaceAll(/ +/g, ' ')

test('what it prints is no wider than 80 columns, and begins as README shows', { skip }, () => {
  const { status, stdout } = aether('demo', '--nodes', '2', '--kron', '14')
  assert.equal(status, 0)
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.length > 80),
    [],
  )
  const shown = codeBlocks(readDocument('README.md')).find(({ text }) => text.startsWith('Visits: '))
  assert.ok(shown)
  // On a busy machine it says what takes long.
  const printed = stdout
    .split('\n')
    .filter((line) => !line.endsWith('…'))
    .map(withoutFigures)
  const start = printed.findIndex((line) => line.startsWith('Visits: '))
  const expected = shown.text.trimEnd().split('\n').map(withoutFigures)
  assert.deepEqual(printed.slice(start, start + expected.length), expected)
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

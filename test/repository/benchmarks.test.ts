/** docs/benchmarks.md and the script that measures it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { root } from './checkout.ts'

interface Section {
  readonly name: string
  readonly commands: readonly (readonly string[])[]
}

const script = join(root, 'scripts/benchmarks.mjs')
const path = join(root, 'docs/benchmarks.md')
const document = readFileSync(path, 'utf8')
const { sections } = (await import(pathToFileURL(join(root, 'scripts/benchmarks/sections.mjs')).href)) as {
  sections: readonly Section[]
}
const places = new Map(
  [...document.matchAll(/<!-- measured: (?!end)([\w-]+) -->\n([\s\S]*?)<!-- measured: end -->/g)].map(
    ([, name, text]) => [name, text ?? ''],
  ),
)

function run(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' })
}

test('every section has its place in the document, and every place its section', () =>
  assert.deepEqual([...places.keys()].sort(), sections.map(({ name }) => name).sort()))

test('what stands in each place was measured by the commands of its section, and has a table', () => {
  for (const { name, commands } of sections) {
    const text = places.get(name) ?? ''
    for (const words of commands) assert.ok(text.includes(words.join(' ')), `${name}: ${words.join(' ')}`)
    assert.match(text, /^\|---\|/m, name)
  }
})

test('short measurements are not put into the document of the repository', () => {
  const { status, stderr } = run('--quick', 'scaling')
  assert.deepEqual([status, /--quick is not to be kept/.test(stderr)], [1, true])
  assert.equal(readFileSync(path, 'utf8'), document)
})

test('measuring a section replaces its part of the document and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aether-benchmarks-'))
  try {
    const copy = join(folder, 'benchmarks.md')
    const old = 'before\n<!-- measured: scaling -->\nold\n<!-- measured: end -->\nafter <!-- measured: end -->\n'
    writeFileSync(copy, old)
    const { status, stderr } = run('--quick', '--document', copy, 'scaling')
    assert.equal(status, 0, stderr)
    const [, measured] =
      /^before\n<!-- measured: scaling -->\n([\s\S]*)\n<!-- measured: end -->\nafter <!-- measured: end -->\n$/.exec(
        readFileSync(copy, 'utf8'),
      ) ?? []
    assert.match(measured ?? '', /^`aether bench scaling --nodes .*Node\.js \d/)
    assert.match(measured ?? '', /^\| barrier: all ranks arrive \| 2; 2 \| 30; 4 \|/m)
    assert.doesNotMatch(measured ?? '', /old/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a section that is none is refused with the names of those there are', () => {
  const { status, stderr } = run('--print', 'speed')
  assert.equal(status, 1)
  assert.match(stderr, /there is no section 'speed'; there are latency, /)
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { SeededTree, toolScript } from './checkout.ts'

/** What a lint command prints when run in `directory`. */
function output(directory: string, tool: 'biome' | 'oxlint', arguments_: readonly string[]): string {
  const result = spawnSync(process.execPath, [toolScript(tool), ...arguments_], { cwd: directory, encoding: 'utf8' })
  assert.equal(result.status, 1, `${tool} finds something wrong: ${result.stdout}${result.stderr}`)
  return `${result.stdout}${result.stderr}`
}

test('a promise that nobody awaits, whatever it came from, and a cast in the place of ! are caught', () => {
  using tree = new SeededTree({
    'src/region.ts': [
      'export interface Region {',
      '  write(value: number): Promise<void>',
      '}',
      'export class Space {',
      '  async close(): Promise<void> {}',
      '}',
      'export async function open(): Promise<Space> {',
      '  return new Space()',
      '}',
      '',
    ].join('\n'),
    'src/index.ts': "export { open, type Region, Space } from './region.ts'\n",
    'src/use.ts': [
      "import { setTimeout as sleep } from 'node:timers/promises'", // 1
      "import { open, type Region } from './index.ts'", // 2
      'export async function use(region: Region): Promise<void> {', // 3
      '  region.write(1)', // 4: a method of an interface
      '  const space = await open()', // 5
      '  space.close()', // 6: a method of what was awaited
      '  open()', // 7: a function through an index.ts
      '  sleep(1)', // 8: a function of Node
      '  void sleep(1)', // 9: left alone on purpose
      '  await space.close()', // 10
      '}',
      'const figures: (number | bigint)[] = [1]', // 12
      'const numbers: number[] = [1]', // 13
      'export const figure = figures[0] as number', // 14: it also narrows
      'export const number = numbers[0] as number', // 15
      '',
    ].join('\n'),
    'test/use.test.ts': "import test from 'node:test'\ntest('registers itself', () => {})\n",
  })
  const found = output(tree.path, 'oxlint', ['--type-aware', '--format=unix'])
  const places = [
    ...found.matchAll(/^(\S+?):(\d+):\d+: .*(?:no-floating-promises|non-nullable-type-assertion-style)/gm),
  ].map((match) => `${match[1]}:${match[2]}`)
  assert.deepEqual(places.sort(), ['src/use.ts:15', 'src/use.ts:4', 'src/use.ts:6', 'src/use.ts:7', 'src/use.ts:8'])
})

test('any, @ts-ignore, unsorted or unused imports and another style are caught', () => {
  using tree = new SeededTree({
    'src/style.ts': [
      "import { join } from 'node:path';",
      "import { readFile } from 'node:fs'",
      '// @ts-ignore',
      'export const size: any = readFile.length',
      '',
    ].join('\n'),
  })
  const found = output(tree.path, 'biome', ['check', '--colors=off', '.'])
  for (const rule of ['noExplicitAny', 'noTsIgnore', 'noUnusedImports', 'organizeImports', 'format'])
    assert.match(found, new RegExp(`${rule}\\b`), `${rule} in: ${found}`)
})

test('a comment of more than 120 columns, a step of one written ++ and a second class of one name are caught', () => {
  using tree = new SeededTree({
    'src/style.ts': [
      `// ${'word '.repeat(24).trim()}`, // 122 columns
      'let index = 0', // 2
      'for (let step = 0; step < 3; step++) index += step', // 3
      'index--', // 4
      'export const before = index++', // 5: its value is used
      `export const long = '${'x'.repeat(120)}'`, // 6: no comment
      '',
    ].join('\n'),
    'src/link.ts': 'export class Link {}\n',
    'tools/link.ts': 'export class Link {}\n',
    'test/link.ts': 'export class Link {}\n',
    'web/link.ts': 'export class Link {}\n',
    '.ci/run': `#!/bin/sh\n  # ${'word '.repeat(24)}\necho ${'word '.repeat(24)}\n`,
  })
  spawnSync('git', ['init', '-q'], { cwd: tree.path })
  const script = fileURLToPath(new URL('../../../scripts/lint-source.mjs', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script, tree.path], { encoding: 'utf8' })
  assert.equal(status, 1)
  const places = [...stderr.matchAll(/^(\S+?:\d+): /gm)].map((match) => match[1])
  assert.deepEqual(places.sort(), [
    '.ci/run:2',
    'src/style.ts:1',
    'src/style.ts:3',
    'src/style.ts:4',
    'tools/link.ts:1',
    'web/link.ts:1',
  ])
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { root, SeededTree, toolScript } from './checkout.ts'
import { type Entry, recipes } from './recipes.ts'

/** What the recipes touch is compiled, with what that imports: all of it would take minutes of a busy machine. */
const settings = {
  extends: './tsconfig.json',
  compilerOptions: { incremental: false, tsBuildInfoFile: null, declaration: false, isolatedDeclarations: false },
  include: [
    'src/**/*.d.ts',
    ...recipes.flatMap(({ entries, tests }) => [...entries, ...tests].map(({ file }) => file)),
  ],
}

/** A copy of the checkout in which the recipes are followed. */
class Followed extends SeededTree {
  constructor() {
    super({ 'tsconfig.recipes.json': JSON.stringify(settings) })
    for (const folder of ['src', 'tools', 'test'])
      cpSync(join(root, folder), join(this.path, folder), { recursive: true })
    mkdirSync(join(this.path, 'dist/compiled'), { recursive: true })
    cpSync(join(root, 'dist/package.json'), join(this.path, 'dist/compiled/package.json'))
    symlinkSync(join(root, 'native'), join(this.path, 'native'))
  }

  enter({ file, at, stays, lines }: Entry): void {
    const path = join(this.path, file)
    const there = readFileSync(path, 'utf8').split('\n')
    const line = there.indexOf(at)
    assert.ok(line >= 0 && line === there.lastIndexOf(at), `${file} should have this line once: ${at}`)
    there.splice(line, stays ? 0 : 1, ...lines)
    writeFileSync(path, there.join('\n'))
  }

  compile(): void {
    this.#run(toolScript('typescript'), '-p', 'tsconfig.recipes.json')
  }

  test(file: string, pattern: string): void {
    const output = this.#run(`--test-name-pattern=${pattern}`, join('dist/compiled', file.replace(/[.]ts$/, '.js')))
    assert.match(output, /^# pass [1-9]/m)
  }

  /** Not as a part of this test, or a file with tests would leave them out. */
  #run(...words: string[]): string {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: this.path, env, encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}${stderr}`)
    return stdout
  }
}

test('what CONTRIBUTING says of adding something compiles, and does what was added', async (context) => {
  using tree = new Followed()
  for (const { folder, entries } of recipes) {
    cpSync(join(root, 'test/repository/recipes', folder), tree.path, { recursive: true })
    for (const entry of entries) tree.enter(entry)
  }
  tree.compile()
  for (const { folder, tests } of recipes) {
    await context.test(folder, () => {
      for (const { file, pattern = '.' } of tests) tree.test(file, pattern)
    })
  }
})

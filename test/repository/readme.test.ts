import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawn } from '../support/drawn.ts'
import { root, SeededTree, toolScript } from './checkout.ts'
import { codeBlocks, markdownFiles, moduleDocuments, promisedOutput, readDocument } from './markdown.ts'

// Programs of other tests may have spaces of the same names.
useRuntimeDirectory()

/** The package as a user has it: imported by its name. */
function packageTree(files: Readonly<Record<string, string>>): SeededTree {
  const tree = new SeededTree(files)
  symlinkSync(join(root, 'dist'), join(tree.path, 'dist'))
  symlinkSync(join(root, 'native'), join(tree.path, 'native'))
  return tree
}

/** Every TypeScript block of the documents and of the public modules' own documentation, as a module of its own. */
function programs(): Record<string, string> {
  const files: Record<string, string> = {}
  const texts = [...markdownFiles().map((path) => [path, readDocument(path)] as const), ...moduleDocuments()]
  for (const [path, text] of texts) {
    const blocks = codeBlocks(text).filter(
      (block) => block.language === 'ts' && block.text.includes("from 'aether-dsm"),
    )
    for (const [index, block] of blocks.entries())
      files[`src/${path.replaceAll(/[/.]/g, '-')}-${index + 1}.ts`] = `${block.text}\nexport {}\n`
  }
  return files
}

test('the examples of the documents compile against the built package and print what they say', (t) => {
  const files = programs()
  assert.ok(Object.keys(files).length > 1)
  using tree = packageTree(files)
  const settings = [
    '-p',
    'tsconfig.json',
    '--noUnusedLocals',
    'false',
    '--isolatedDeclarations',
    'false',
    '--outDir',
    'out',
  ]
  // As a strict user compiles: the declarations that the package ships are checked, too.
  const strict = ['--skipLibCheck', 'false']
  const incremental = ['--incremental', 'false', '--tsBuildInfoFile', 'null']
  const compiled = spawnSync(process.execPath, [toolScript('typescript'), ...settings, ...strict, ...incremental], {
    cwd: tree.path,
    encoding: 'utf8',
  })
  assert.equal(compiled.status, 0, compiled.stdout)
  // All compile. Of those that print something, half are run each time.
  const printing = Object.keys(files).filter((path) => promisedOutput(files[path]!).length > 0)
  for (const path of drawn(printing, Math.ceil(printing.length / 2))) {
    const promised = promisedOutput(files[path]!)
    const script = join(tree.path, 'out', path.replace(/\.ts$/, '.js'))
    const result = spawnSync(process.execPath, [script], { cwd: tree.path, encoding: 'utf8', timeout: 60_000 })
    assert.equal(result.status, 0, `${path}: ${result.stderr}`)
    assert.deepEqual(result.stdout.trimEnd().split('\n'), promised, path)
    t.diagnostic(`${path} ran`)
  }
})

test('README has at most 120 lines', () => {
  const lines = readDocument('README.md').trimEnd().split('\n').length
  assert.ok(lines <= 120, `README.md has ${lines} lines`)
})

test("README's figures stand in docs/benchmarks.md, where the run that gave them is named", () => {
  const figures = (text: string) => text.match(/\d[\d.,]* (?:ns|µs|ms|s)\b/g) ?? []
  const inReadme = readDocument('README.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap(figures)
  assert.ok(inReadme.length >= 6, 'three figures and what each is compared to')
  const measured = new Set(figures(readDocument('docs/benchmarks.md')))
  assert.deepEqual(
    inReadme.filter((figure) => !measured.has(figure)),
    [],
  )
})

/** One terminal in which README's program runs. */
class Terminal {
  readonly process: ChildProcess
  /** The counts it has printed, in order. */
  readonly counts: number[] = []
  readonly #ended: Promise<unknown>

  constructor(script: string) {
    this.process = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#ended = once(this.process, 'close')
    assert.ok(this.process.stdout)
    createInterface(this.process.stdout).on('line', (line) => {
      const count = /^process (\d+): (\d+) visits to \/home$/.exec(line)
      assert.deepEqual([count?.[1], line], [String(this.process.pid), line])
      this.counts.push(Number(count?.[2]))
    })
  }

  /** Resolves when it has printed as many counts more. */
  async prints(count: number): Promise<void> {
    const target = this.counts.length + count
    while (this.counts.length < target) {
      assert.equal(this.process.exitCode ?? this.process.signalCode, null, 'it is still running')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Ends it as `kill -9` does; all that it printed has been read then. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.#ended
  }
}

test("README's program counts in two processes; when one is killed, the other counts on and nothing is lost", async () => {
  const program = codeBlocks(readDocument('README.md')).find((block) => block.text.startsWith('// visits.mjs\n'))
  assert.equal(program?.language, 'js')
  using tree = packageTree({ 'visits.mjs': program.text })
  const script = join(tree.path, 'visits.mjs')
  const [killed, survivor] = [new Terminal(script), new Terminal(script)]
  try {
    await Promise.all([killed.prints(2), survivor.prints(2)])
    await killed.kill()
    await survivor.prints(3)
    const joined = new Terminal(script)
    try {
      await joined.prints(1)
    } finally {
      await joined.kill()
    }
    await survivor.prints(1)
    await survivor.kill()
    const all = [...killed.counts, ...survivor.counts, ...joined.counts].sort((left, right) => left - right)
    assert.equal(new Set(all).size, all.length, `no visit was counted twice: ${all}`)
    // One that is killed may have counted a visit and not printed it.
    const last = Math.max(...survivor.counts)
    const before = all.filter((count) => count <= last).length
    assert.ok(last === before || last === before + 1 || last === before + 2, `nothing was lost: ${all}`)
  } finally {
    await Promise.all([killed.kill(), survivor.kill()])
  }
})

test('every export path can be required by CommonJS and gives what import gives', () => {
  using tree = packageTree({
    'main.cjs': `
      const description = require('./package.json')
      async function main() {
        for (const path of Object.keys(description.exports)) {
          if (path === './package.json' || path.includes('*')) continue
          const name = path.replace(/^[.]/, 'aether-dsm')
          if (require(name) !== (await import(name))) throw new Error(name)
        }
        const space = await require('aether-dsm').open('commonjs')
        console.log(space.name)
        await space.close()
      }
      main()`,
  })
  const result = spawnSync(process.execPath, [join(tree.path, 'main.cjs')], { cwd: tree.path, encoding: 'utf8' })
  assert.deepEqual([result.stdout, result.stderr], ['commonjs\n', ''])
})

import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { createInterface } from 'node:readline'
import test, { after, before } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { root, toolScript } from './checkout.ts'
import { codeBlocks, linkTargets, readDocument } from './markdown.ts'

// Programs of other tests may have spaces of the same names.
useRuntimeDirectory()

/** An empty folder of a user, in which the packed files are installed. */
const folder = mkdtempSync(join(tmpdir(), 'aether-installed-'))
/** Node.js and npm, and no compiler. */
const programs = join(folder, 'programs')
const environment = { ...process.env, PATH: programs, CXX: '' }

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

function pack(place: string): Packed {
  const words = ['pack', place, '--json', '--ignore-scripts', '--pack-destination', folder]
  const result = spawnSync('npm', words, { cwd: root, encoding: 'utf8' })
  assert.equal(result.status, 0, result.stderr)
  return (JSON.parse(result.stdout) as [Packed])[0]
}

function install(...packages: readonly string[]): SpawnSyncReturns<string> {
  const words = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages.map((each) => `./${each}`)]
  return spawnSync('npm', words, { cwd: folder, encoding: 'utf8', env: environment })
}

function run(program: string, words: readonly string[] = []): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [program, ...words], { cwd: folder, encoding: 'utf8', env: environment })
}

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** Starts README's program and ends it after three counts. */
async function counts(program: string): Promise<string[]> {
  const child = spawn(process.execPath, [program], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line.replace(/\d+/, 'PID'))
    if (lines.length === 3) child.kill('SIGKILL')
  }
  await ended
  return lines
}

const readmeProgram = () => {
  const block = codeBlocks(readDocument('README.md')).find(({ text }) => text.startsWith('// visits.mjs\n'))
  assert.ok(block)
  return block.text
}
const threeCounts = [1, 2, 3].map((count) => `process PID: ${count} visits to /home`)

let packed: Packed
before(() => {
  const built = spawnSync(process.execPath, ['native/build.mjs', '--prebuilt'], { cwd: root, encoding: 'utf8' })
  assert.equal(built.status, 0, built.stderr)
  mkdirSync(programs)
  for (const program of ['node', 'npm', 'sh']) {
    const found = process.env['PATH']?.split(':').find((place) => existsSync(join(place, program)))
    assert.ok(found, program)
    symlinkSync(join(found, program), join(programs, program))
  }
  write('package.json', '{ "private": true }')
  packed = pack('.')
  const { status, stdout, stderr } = install(packed.filename)
  assert.equal(status, 0, stderr)
  assert.doesNotMatch(stdout + stderr, /warn/, 'npm has nothing to warn of')
})
after(() => rmSync(folder, { recursive: true, force: true }))

test('the package has at most 2,000 files and 5 MB', (t) => {
  t.diagnostic(`${packed.files.length} files, ${packed.unpackedSize} bytes`)
  assert.ok(packed.files.length <= 2000, `${packed.files.length} files`)
  assert.ok(packed.unpackedSize <= 5_000_000, `${packed.unpackedSize} bytes`)
})

test('every link of a page that is packed leads to a file that is packed', () => {
  const files = new Set(packed.files.map(({ path }) => path))
  const isPacked = (path: string) => files.has(path) || [...files].some((file) => file.startsWith(`${path}/`))
  const broken = [...files]
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) => linkTargets(readDocument(page)).map((target) => ({ page, target: target.replace(/#.*/, '') })))
    .filter(({ target }) => target !== '' && !/^[a-z]+:/.test(target))
    // Pictures and figures stay in the repository: they would be a fifth of the package. So do the pages of the tools,
    // those that are made from the tables of protocols, and those for who works on Aether.
    .filter(
      ({ target }) =>
        !/\.(png|svg)$|(^|\/)(benchmarks|decisions|CONTRIBUTING)\.md$|^(agreement|protocols)\/[\w-]+\.md$/.test(target),
    )
    .filter(({ page, target }) => !isPacked(normalize(join(dirname(page), target))))
  assert.deepEqual(broken, [])
})

test('no file names a source map', () => {
  const mapped = packed.files.filter(({ path }) => /\.(js|ts)$/.test(path))
  assert.ok(mapped.length > 50)
  for (const { path } of mapped) {
    const text = readFileSync(join(folder, 'node_modules/aether-dsm', path), 'utf8')
    assert.doesNotMatch(text, /^\/\/# sourceMappingURL=/m, path)
  }
})

test("README's program runs as an ES module", async () => {
  assert.deepEqual(await counts(write('visits.mjs', readmeProgram())), threeCounts)
})

test("README's program runs as CommonJS", async () => {
  const text = readmeProgram()
    .replace(/^import (.+) from '(.+)'$/gm, "const $1 = require('$2')")
    .replace(/^(const space[\s\S]*)$/m, 'async function main() {\n$1\n}\nmain()\n')
  assert.match(text, /require\('aether-dsm'\)/)
  assert.deepEqual(await counts(write('visits.cjs', text)), threeCounts)
})

test("README's program compiles as strict TypeScript, declarations checked, and runs", async () => {
  cpSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'), { recursive: true })
  cpSync(join(root, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'), { recursive: true })
  const options = { module: 'NodeNext', types: ['node'], strict: true, skipLibCheck: false, outDir: 'out' }
  write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['visits.mts'] }))
  // The values of a map are unknown until the program names their type.
  write('visits.mts', readmeProgram().replace("map('visits')", "map<number>('visits')"))
  const compiled = run(toolScript('typescript'))
  assert.equal(compiled.status, 0, compiled.stdout)
  assert.deepEqual(await counts(join(folder, 'out/visits.mjs')), threeCounts)
})

test('agents, IO threads and other processes are found where the package is installed', () => {
  write(
    'ranks.mjs',
    `import { join } from 'aether-dsm'
    const group = await join()
    const region = await group.openRegion('sums', { size: 65536, coherence: 'mesi' })
    region.view(Float64Array)[group.rank] = group.rank + 1
    await group.barrier()
    if (group.rank === 0) console.log(region.view(Float64Array).slice(0, 3).join(' '))
    await group.close()`,
  )
  const command = join(folder, 'node_modules/.bin/aether')
  const ranks = run(command, ['run', '-n', '3', 'ranks.mjs'])
  assert.equal(ranks.stdout, '[0] 1 2 3\n', ranks.stderr)
  const conformance = run(
    write(
      'conform.mjs',
      `import { runProviderConformance } from 'aether-dsm/testing'
      const only = 'WRITE moves the bytes and nothing beside them'
      const { results } = await runProviderConformance({ provider: 'shm', device: 'shm0', placement: 'two-processes', only })
      console.log(results.length > 0 && results.every(({ outcome }) => outcome === 'passed'))`,
    ),
  )
  assert.equal(conformance.stdout, 'true\n', conformance.stderr)
})

test('a command of the tools says how to get them, and works once they are installed', () => {
  const command = join(folder, 'node_modules/.bin/aether-dsm')
  const { version } = JSON.parse(readDocument('package.json')) as { version: string }
  assert.equal(run(command, ['--version']).stdout, `${version}\n`)
  const before = run(command, ['bench', '--help'])
  assert.equal(before.status, 1)
  assert.match(before.stderr, /npm install --save-dev aether-dsm-tools/)
  const copied = spawnSync(process.execPath, ['tools/pack.mjs'], { cwd: root, encoding: 'utf8' })
  assert.equal(copied.status, 0, copied.stderr)
  const tools = pack('./tools')
  const installed = install(packed.filename, tools.filename)
  assert.equal(installed.status, 0, installed.stderr)
  const measured = run(command, ['bench', 'latency', '--json', '--time-ms', '10', '--sizes', '8'])
  assert.equal(measured.status, 0, measured.stderr)
  assert.ok((JSON.parse(measured.stdout) as { results?: unknown }) !== null)
})

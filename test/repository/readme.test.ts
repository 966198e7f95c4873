import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree, toolScript } from './checkout.ts'
import { codeBlocks, markdownFiles, moduleDocuments, promisedOutput, readDocument } from './markdown.ts'

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
  using tree = new SeededTree(files)
  symlinkSync(join(root, 'dist'), join(tree.path, 'dist'))
  symlinkSync(join(root, 'native'), join(tree.path, 'native'))
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
  for (const [path, program] of Object.entries(files)) {
    const promised = promisedOutput(program)
    if (promised.length === 0) continue
    const script = join(tree.path, 'out', path.replace(/\.ts$/, '.js'))
    const result = spawnSync(process.execPath, [script], { cwd: tree.path, encoding: 'utf8', timeout: 60_000 })
    assert.equal(result.status, 0, `${path}: ${result.stderr}`)
    assert.deepEqual(result.stdout.trimEnd().split('\n'), promised, path)
    t.diagnostic(`${path} ran`)
  }
})

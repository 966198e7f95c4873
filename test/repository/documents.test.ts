import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { commandTable } from '../../src/cli/commands.ts'
import { toolTable } from '../../src/cli/tools.ts'
import { root } from './checkout.ts'
import { anchors, codeBlocks, linkTargets, markdownFiles, readDocument } from './markdown.ts'

const scripts = (JSON.parse(readDocument('package.json')) as { scripts: Readonly<Record<string, string>> }).scripts

test('every link inside the repository leads somewhere', () => {
  const broken: string[] = []
  for (const file of markdownFiles()) {
    for (const target of linkTargets(readDocument(file))) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const absolute = path === '' ? join(root, file) : join(root, dirname(file), path)
      if (!existsSync(absolute)) broken.push(`${file}: ${target}`)
      else if (anchor !== undefined && !anchors(absolute).has(anchor))
        broken.push(`${file}: ${target} (no such heading)`)
    }
  }
  assert.deepEqual(broken, [])
})

/** The shell commands that the documents tell people to type. */
function commands(): { readonly file: string; readonly command: string }[] {
  return markdownFiles().flatMap((file) => {
    const text = readDocument(file)
    const blocks = codeBlocks(text).filter((block) => ['sh', 'bash', 'console'].includes(block.language))
    const inline = [...text.matchAll(/`((?:npm|npx|node) [^`]+)`/g)].map((match) => match[1] ?? '')
    const lines = blocks.flatMap((block) => block.text.split('\n')).concat(inline)
    const parts = lines.flatMap((line) => line.replace(/\s#.*$/, '').split(/&&|;|\|/))
    return parts.map((part) => ({ file, command: part.trim() })).filter(({ command }) => command !== '')
  })
}

/** Files that a document shows and tells people to write: their names are the first lines of its code blocks. */
function shownFiles(file: string): Set<string> {
  const blocks = codeBlocks(readDocument(file))
  return new Set(blocks.flatMap((block) => /^\/\/ ([\w-]+\.\w+)\n/.exec(block.text)?.[1] ?? []))
}

test('every npm script, every command of Aether and every file named in a command exists', () => {
  const wrong: string[] = []
  const known = new Set(['help', ...[...commandTable, ...toolTable].map(({ name }) => name)])
  for (const { file, command } of commands()) {
    const own = /^npx aether(?:-dsm)? ([a-z]\S*)/.exec(command)?.[1]
    if (own !== undefined && !known.has(own)) wrong.push(`${file}: ${command}`)
    const script = /^npm (?:run )?(?:--silent )?(\w+)/.exec(command)?.[1]
    const isScript = /^npm run /.test(command) || ['test', 'start'].includes(script ?? '')
    if (isScript && (script === undefined || scripts[script] === undefined)) wrong.push(`${file}: ${command}`)
    const path = /^(?:bash |node )((?:\.\/)?[\w./-]+\.(?:mjs|js|sh))/.exec(command)?.[1]
    if (path === undefined || path.startsWith('node_modules/') || shownFiles(file).has(path)) continue
    if (!existsSync(join(root, path))) wrong.push(`${file}: ${command}`)
  }
  assert.deepEqual(wrong, [])
})

test('the tree of CONTRIBUTING.md names every room, and no room that is not there', () => {
  const rooms = readdirSync(join(root, 'src')).filter((name) => statSync(join(root, 'src', name)).isDirectory())
  const tree = codeBlocks(readDocument('CONTRIBUTING.md')).find((block) => block.text.startsWith('src/'))?.text ?? ''
  const named = [...tree.matchAll(/^ {2}([\w-]+)\/ /gm)].map((match) => match[1] ?? '')
  assert.deepEqual(named.sort(), rooms.sort())
})

/** Names of environment variables in the files of these folders. */
function variables(folders: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ts|mjs|cc|h)$/.test(name)) continue
      for (const variable of readFileSync(join(root, folder, name), 'utf8').match(/\bAETHER_[A-Z_]+\b/g) ?? [])
        found.add(variable)
    }
  }
  return found
}

/** Without the first column of the tables of C functions: constants of C are named as our variables are. */
function ownText(file: string): string {
  const text = readDocument(file)
  return file === 'docs/coming-from-c.md' ? text.replaceAll(/^\| [^|]+ \|/gm, '|') : text
}

test('the table of contents names every page', () => {
  const named = new Set(linkTargets(readDocument('docs/README.md')).map((target) => join('docs', target)))
  const pages = markdownFiles().filter((file) => file.startsWith('docs/') && file !== 'docs/README.md')
  assert.deepEqual(
    pages.filter((page) => !named.has(page)),
    [],
  )
})

test('the environment variables that the source reads are documented, and those documented are read', () => {
  const documented = new Set(markdownFiles().flatMap((file) => ownText(file).match(/\bAETHER_[A-Z_]+\b/g) ?? []))
  const undocumented = [...variables(['src'])].filter((name) => !documented.has(name))
  assert.deepEqual(undocumented.sort(), [], 'read in src/ and in no document')
  const everywhere = variables(['src', 'native', 'scripts', 'test'])
  const unread = [...documented].filter((name) => !everywhere.has(name))
  assert.deepEqual(unread.sort(), [], 'in a document and read nowhere')
})

test('the map of the source is short enough to be read', () => {
  const bytes = statSync(join(root, 'docs/architecture.md')).size
  assert.ok(
    bytes <= 20_000,
    `docs/architecture.md has ${bytes} bytes: details belong beside the code that they explain`,
  )
})

test('the files of the source that documents name are there', () => {
  const files = ['src', 'native', 'test', 'tools', 'web', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `/${folder}/${name}`),
  )
  for (const document of ['docs/architecture.md', 'docs/decisions.md', 'CONTRIBUTING.md']) {
    const named = [...readDocument(document).matchAll(/`([\w./-]+\.(?:ts|cc|h|wat|mjs))`/g)].map(
      (match) => match[1] ?? '',
    )
    assert.notEqual(named.length, 0, `${document} names no file`)
    assert.deepEqual(
      named.filter((name) => !files.some((file) => file.endsWith(`/${name}`))),
      [],
      document,
    )
  }
})

/**
 * Makes what is published of the compiled sources: dist/compiled/src becomes dist/package. The last part of a build.
 *
 *   *.js     every door, every module that runs in a thread or process of its own, and what they share: all in one
 *            folder, without comments and needless spaces, and with short names for variables. Importing them takes a
 *            quarter of the time that a thousand modules take.
 *   *.d.ts   what users see of the doors, with its documentation: without members that are `@internal`, and without
 *            indentation and names of modules.
 *
 * Also writes dist/native/sources.json.br, the sources of the addon without comments, in a sixth of their size. From
 * them native/build.mjs builds where the package is installed. And it writes dist/package.json, by which what lies in
 * dist/ (tests, tools, examples) finds `aether-dsm` in dist/src.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import ts from 'typescript'
import { STARTED, startedModule, startedModules } from './started-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiled = join(root, 'dist/compiled/src')
const target = join(root, 'dist/package')
const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Indentation, the asterisk of a line in a comment, and names of modules. */
const MARGIN = /^[ \t]+(\*(?!\/) ?)?|^\/\/ dist\/compiled\/.*\n/gm

/** Every path of package.json's `exports`: its name in dist/package, and the module behind it. */
const doors = Object.entries(description.exports).flatMap(([path, conditions]) => {
  if (typeof conditions === 'string') return []
  const name = conditions.default.replace(/^\.\/dist\/package\/(.*)\.js$/, '$1')
  if (path === './internal/*')
    return rooms().map((room) => ({
      path: path.replace('*', room),
      name: name.replace('*', room),
      module: `${room}/index`,
    }))
  if (path.startsWith('./adapters/')) return [{ path, name, module: `${path.slice(2)}/index` }]
  return [{ path, name, module: `public/${name}` }]
})

function rooms() {
  return readdirSync(compiled).filter((room) => room !== 'public' && existsSync(join(compiled, room, 'index.js')))
}

const nameOf = (path) => basename(path, '.js')

/** Name in dist/package -> module. */
function programs() {
  const found = new Map(doors.map(({ name, module }) => [name, join(compiled, `${module}.js`)]))
  found.set('command', join(compiled, 'cli/main.js'))
  for (const path of readdirSync(compiled, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue
    for (const started of startedModules(join(compiled, path), readFileSync(join(compiled, path), 'utf8'))) {
      const name = nameOf(started)
      if (found.has(name) && found.get(name) !== started)
        throw new Error(`${relative(root, started)} and ${relative(root, found.get(name))} need different names`)
      found.set(name, started)
    }
  }
  return found
}

/** In one folder a started module lies beside whatever starts it. */
const flatten = {
  name: 'flatten',
  transform: (text, path) =>
    text.replace(STARTED, (whole, place) => {
      const started = startedModule(path, place)
      return started === undefined ? whole : `new URL('./${nameOf(started)}.js', import.meta.url)`
    }),
}

/** A function that the compiler puts into every module that needs it, such as those for `using`. */
const HELPER = /^var (__\w+) = [\s\S]*?^\S.*;\n/gm

const helpers = new Map()

/** Each of them is in the package once. */
const helpersOnce = {
  name: 'helpers-once',
  resolveId: (id) => (id.startsWith('helper:') ? id : undefined),
  load: (id) => helpers.get(id),
  transform(text) {
    let imports = ''
    const rest = text.replace(HELPER, (whole, name) => {
      const id = `helper:${name}`
      if (helpers.has(id) && helpers.get(id) !== `export ${whole}`) throw new Error(`there are two helpers ${name}`)
      helpers.set(id, `export ${whole}`)
      imports += `import { ${name} } from '${id}'\n`
      return ''
    })
    return imports === '' ? undefined : imports + rest
  },
}

async function bundle(input, plugins, output) {
  const external = [/^node:/, ...Object.keys(description.peerDependencies)]
  const result = await rolldown({ input, plugins, external, platform: 'node' })
  await result.write({ dir: target, format: 'esm', chunkFileNames: 'shared-[hash].js', ...output })
}

/**
 * The declarations without members that are marked as internal, unless it says `@internal but declared`. A constructor
 * stays, as one that is not for users.
 */
function withoutInternals(text) {
  const cuts = []
  const visit = (node) => {
    if (isHidden(node)) cuts.push([node.getFullStart(), node.end, ts.isConstructorDeclaration(node)])
    else ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('bundle.d.ts', text, ts.ScriptTarget.Latest, true))
  let kept = ''
  let begin = 0
  for (const [from, to, isConstructor] of cuts) {
    kept += `${text.slice(begin, from)}${isConstructor ? '\nprotected constructor();' : ''}`
    begin = to
  }
  return kept + text.slice(begin)
}

function isHidden(node) {
  if (!ts.isClassElement(node) && !ts.isTypeElement(node)) return false
  const isProtected = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword) === true
  return isProtected || ts.getJSDocTags(node).some(isCut)
}

function isCut({ tagName, comment }) {
  return tagName.text === 'internal' && ts.getTextOfJSDocComment(comment)?.startsWith('but declared') !== true
}

/** Before bundling, so that what only such members name is left out, too. */
const internalsCut = {
  name: 'internals-cut',
  transform: { order: 'pre', filter: { id: /\.d\.ts$/ }, handler: withoutInternals },
}

rmSync(target, { recursive: true, force: true })
// Functions and classes keep their names, which stack traces and errors show.
const minify = { compress: true, mangle: { toplevel: true, keepNames: true }, codegen: { removeWhitespace: true } }
await bundle(Object.fromEntries(programs()), [flatten, helpersOnce], { comments: false, minify })
const forUsers = doors.filter(({ path }) => !path.startsWith('./internal/'))
const declared = forUsers.map(({ name, module }) => [name, join(compiled, `${module}.d.ts`)])
await bundle(Object.fromEntries(declared), [internalsCut, dts({ dtsInput: true })], {})
for (const name of readdirSync(target).filter((each) => each.endsWith('.d.ts'))) {
  const path = join(target, name)
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(MARGIN, ''))
}

const native = join(root, 'native')
const sources = readdirSync(native).filter((name) => /\.(cc|h)$/.test(name))
/** Lines of comments are left empty, so that a compiler's messages still name the lines of the repository. */
const withoutComments = (text) => text.replaceAll(/^[ \t]*\/\/.*$/gm, '')
const texts = Object.fromEntries(
  sources.sort().map((name) => [name, withoutComments(readFileSync(join(native, name), 'utf8'))]),
)
mkdirSync(join(root, 'dist/native'), { recursive: true })
const packed = brotliCompressSync(JSON.stringify(texts, undefined, 1))
writeFileSync(join(root, 'dist/native/sources.json.br'), packed)

const inCheckout = Object.fromEntries(doors.map(({ path, module }) => [path, `./src/${module}.js`]))
const nested = { name: description.name, type: 'module', exports: inCheckout }
writeFileSync(join(root, 'dist/package.json'), `${JSON.stringify(nested, undefined, 2)}\n`)

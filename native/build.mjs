// Builds the addon: every .cc of this folder, against the headers of the package node-api-headers. No network, no other tool than a C++ compiler.
//   node native/build.mjs [--sanitize]     --sanitize: AddressSanitizer and UndefinedBehaviorSanitizer, into build/Sanitized
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const here = dirname(fileURLToPath(import.meta.url))
const sanitize = process.argv.includes('--sanitize')
const output = join(here, 'build', sanitize ? 'Sanitized' : 'Release')
const target = join(output, 'aether.node')

if (process.platform !== 'linux') {
  console.log(
    `aether-dsm: no addon for ${process.platform}; the package can be imported, and open() says what is missing`,
  )
  process.exit(0)
}

const files = readdirSync(here)
const sources = files.filter((name) => name.endsWith('.cc'))
const newest = Math.max(
  ...files.filter((name) => /\.(cc|h|mjs)$/.test(name)).map((name) => statSync(join(here, name)).mtimeMs),
)
const isFresh = (path) => existsSync(path) && statSync(path).mtimeMs >= newest
if (isFresh(target)) process.exit(0)

const compiler = [process.env.CXX, 'c++', 'g++', 'clang++'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
if (compiler === undefined) {
  console.error('aether-dsm: no C++ compiler was found, and the addon must be compiled.')
  console.error(
    'Install one (Debian, Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++), or name it in CXX, and run npm ci again.',
  )
  process.exit(1)
}

const include = createRequire(import.meta.url)('node-api-headers').include_dir
const mode = sanitize ? ['-O1', '-g', '-fsanitize=address,undefined', '-fno-omit-frame-pointer'] : ['-O2']
const flags = [
  '-std=c++17',
  '-fPIC',
  '-fvisibility=hidden',
  '-Wall',
  '-Wextra',
  '-Werror=return-type',
  '-D_GNU_SOURCE',
  `-I${include}`,
  ...mode,
]
const run = promisify(execFile)

mkdirSync(output, { recursive: true })
// A name of our own until it is whole: two builds at once must not see each other's halves.
const scratch = (name) => join(output, `${name}.${process.pid}`)
try {
  const compiled = await Promise.all(
    sources.map((name) => run(compiler, [...flags, '-c', join(here, name), '-o', scratch(name)])),
  )
  for (const { stderr } of compiled) if (stderr !== '') console.error(stderr)
  await run(compiler, [...flags, '-shared', ...sources.map(scratch), '-o', scratch('aether.node')])
} catch (error) {
  console.error(`aether-dsm: ${compiler} failed\n${error.stderr}`)
  for (const name of [...sources, 'aether.node']) rmSync(scratch(name), { force: true })
  process.exit(1)
}
for (const name of sources) renameSync(scratch(name), join(output, name.replace(/\.cc$/, '.o')))
renameSync(scratch('aether.node'), target)

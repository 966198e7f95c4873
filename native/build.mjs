// Builds the addon: every .cc of this folder, against the headers of the package node-api-headers. No network, no other
// tool than a C++ compiler.
//   node native/build.mjs [--sanitize | --prebuilt]
//     --sanitize: AddressSanitizer and UndefinedBehaviorSanitizer, into build/Sanitized
//     --prebuilt: and a copy for who installs the package and has no compiler, into ../prebuilds/PLATFORM; npm pack
//     does it
import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
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

// Parts of the addon that need headers which not every machine has: without them it is built without that part, and
// says so when it is asked for.
const parts = [
  { prefix: 'verbs-', header: 'infiniband/verbs.h', define: 'AETHER_VERBS', package: 'libibverbs-dev' },
  { prefix: 'rdmacm-', header: 'rdma/rdma_cma.h', define: 'AETHER_RDMACM', package: 'librdmacm-dev' },
  { prefix: 'mlx5-', header: 'infiniband/mlx5dv.h', define: 'AETHER_MLX5', package: 'libibverbs-dev' },
]

const files = readdirSync(here)
const newest = Math.max(
  ...files.filter((name) => /\.(cc|h|mjs)$/.test(name)).map((name) => statSync(join(here, name)).mtimeMs),
)
const isFresh = (path) => existsSync(path) && statSync(path).mtimeMs >= newest

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

function finish() {
  if (process.argv.includes('--prebuilt')) {
    const libc = readdirSync('/lib').some((name) => name.startsWith('ld-musl-')) ? '-musl' : ''
    const folder = join(here, '..', 'prebuilds', `${process.platform}-${process.arch}${libc}`)
    mkdirSync(folder, { recursive: true })
    copyFileSync(target, join(folder, 'aether.node'))
  }
  process.exit(0)
}

const hasHeader = (name) => {
  try {
    execFileSync(compiler, ['-E', '-x', 'c++', '-'], {
      input: `#include <${name}>\n`,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    return true
  } catch {
    return false
  }
}
const missing = parts.filter((part) => !hasHeader(part.header))
const defines = parts.filter((part) => !missing.includes(part)).map((part) => `-D${part.define}`)
const sources = files.filter((name) => name.endsWith('.cc') && !missing.some((part) => name.startsWith(part.prefix)))
// Installing the headers makes what was built without them stale.
const builtWith = join(output, 'parts.txt')
const isSame = existsSync(builtWith) && readFileSync(builtWith, 'utf8') === defines.join(' ')
if (isFresh(target) && isSame) finish()
for (const part of missing)
  console.log(
    `aether-dsm: <${part.header}> is not there, so the addon is built without RDMA devices (Debian, Ubuntu: apt-get install ${part.package})`,
  )

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
  ...defines,
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
  await run(compiler, [...flags, '-shared', ...sources.map(scratch), '-ldl', '-o', scratch('aether.node')])
} catch (error) {
  console.error(`aether-dsm: ${compiler} failed\n${error.stderr}`)
  for (const name of [...sources, 'aether.node']) rmSync(scratch(name), { force: true })
  process.exit(1)
}
for (const name of sources) renameSync(scratch(name), join(output, name.replace(/\.cc$/, '.o')))
renameSync(scratch('aether.node'), target)
writeFileSync(builtWith, defines.join(' '))
finish()

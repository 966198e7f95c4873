// Builds the addon: every .cc of this folder, against the headers of the package node-api-headers. A package that is
// installed has them in one file, which scripts/bundle.mjs writes: dist/native/sources.json.br, names and texts.
// It needs a C++ compiler and no network.
//   node native/build.mjs                for this machine, into build/Release
//   node native/build.mjs --sanitize     with AddressSanitizer and UndefinedBehaviorSanitizer, into build/Sanitized
//   node native/build.mjs --prebuilt     into ../prebuilds/linux-ARCH, for x64 and arm64 as far as there are compilers;
//                                        npm pack runs it
//   node native/build.mjs --release      the same for both, complete and for old distributions; npm publish runs it
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'

/**
 * The least glibc that a prebuilt addon may need: that of RHEL 9, Amazon Linux 2023, Ubuntu 22.04 and Debian 12.
 * The build fails if a newer symbol comes in. Distributions with an older glibc build the addon from source.
 */
const LEAST_GLIBC = '2.34'
const PREBUILT = [
  { arch: 'x64', compiler: 'x86_64-linux-gnu-g++', package: 'g++-x86-64-linux-gnu' },
  { arch: 'arm64', compiler: 'aarch64-linux-gnu-g++', package: 'g++-aarch64-linux-gnu' },
]
/** Parts of the addon whose headers a machine may lack. An own build leaves them out; a prebuilt addon has them all. */
const PARTS = [
  { prefix: 'verbs-', header: 'infiniband/verbs.h', define: 'AETHER_VERBS', package: 'libibverbs-dev' },
  { prefix: 'tcp-', header: 'infiniband/verbs.h', define: 'AETHER_TCP', package: 'libibverbs-dev' },
  { prefix: 'rdmacm-', header: 'rdma/rdma_cma.h', define: 'AETHER_RDMACM', package: 'librdmacm-dev' },
  { prefix: 'mlx5-', header: 'infiniband/mlx5dv.h', define: 'AETHER_MLX5', package: 'libibverbs-dev' },
]

const here = dirname(fileURLToPath(import.meta.url))
const sourceFolder = existsSync(join(here, 'addon.cc')) ? here : unpackSources()
const files = readdirSync(sourceFolder).filter((name) => /\.(cc|h)$/.test(name))
const newest = Math.max(
  statSync(fileURLToPath(import.meta.url)).mtimeMs,
  ...files.map((name) => statSync(join(sourceFolder, name)).mtimeMs),
)
const run = promisify(execFile)

/** Into build/sources, where they stay: what has not changed is not compiled again. */
function unpackSources() {
  const folder = join(here, 'build', 'sources')
  mkdirSync(folder, { recursive: true })
  const texts = JSON.parse(brotliDecompressSync(readFileSync(join(here, '../dist/native/sources.json.br'))).toString())
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    writeFileSync(`${path}.${process.pid}`, text)
    renameSync(`${path}.${process.pid}`, path)
  }
  return folder
}

/** A reason why nothing can be built, told without a stack. */
class BuildError extends Error {}

const runs = (compiler) => {
  try {
    execFileSync(compiler, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function ownCompiler() {
  const compiler = [process.env.CXX, 'c++', 'g++', 'clang++'].find((name) => name !== undefined && runs(name))
  if (compiler !== undefined) return compiler
  throw new BuildError(
    'no C++ compiler was found, and the addon must be compiled.\nInstall one (Debian, Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++), or name it in CXX, and run npm ci again.',
  )
}

const hasHeader = (compiler, name) => {
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

const isOfArrays = (name) => name.startsWith('arrays-')

/**
 * What is compiled at once: a file with includes of all that belong together. Headers are then read once, which takes
 * most of the time: 35 files one by one took 35 s of processor time, 4 units take 12. What belongs to arrays is
 * compiled file by file, with flags of its own: vectors are made by the compiler, which does little of it at -O2; on
 * x64 all but the baseline's. They compute the same bits on all processors, so no product and sum are fused.
 */
function unitsOf(sources, arch) {
  const units = new Map()
  for (const name of sources) {
    const unit = isOfArrays(name) ? name : (PARTS.find((part) => name.startsWith(part.prefix))?.prefix ?? 'base-')
    units.set(unit, [...(units.get(unit) ?? []), name])
  }
  return [...units].map(([unit, names]) => ({ name: `${unit}unit`, names, flags: flagsOf(unit, arch) }))
}

/** Those of AVX-512 use no frames of AddressSanitizer on the heap: GCC 12 aligns them to 32 bytes, vectors to 64. */
function flagsOf(unit, arch) {
  if (!isOfArrays(unit)) return []
  const isWide = unit.startsWith('arrays-kernels-') && !(arch === 'x64' && unit.includes('baseline'))
  // Vectors are passed only between functions that are inlined: how others would take them does not matter. Each file
  // keeps its own flags for its own processors, so nothing is optimized at the end.
  const flags = ['-ffp-contract=off', '-fno-math-errno', '-Wno-psabi', '-fno-lto']
  // Small: loops begin anywhere.
  flags.push('-fno-align-loops', '-fno-align-jumps', '-fno-align-labels')
  if (unit.includes('avx512')) flags.push('--param=asan-use-after-return=0')
  return isWide && arch === 'x64' ? ['-O2', '-ftree-vectorize', '-fvect-cost-model=dynamic', ...flags] : flags
}

/** Compile into `folder`, unless `target` is newer than every source and has the same parts. */
async function build({ compiler, arch, folder, target, missing, compileFlags, linkFlags }) {
  const defines = PARTS.filter((part) => !missing.includes(part)).map((part) => `-D${part.define}`)
  // Installing a header makes what was built without it stale.
  const builtWith = join(folder, 'parts.txt')
  const hasSameParts = existsSync(builtWith) && readFileSync(builtWith, 'utf8') === defines.join(' ')
  if (hasSameParts && existsSync(target) && statSync(target).mtimeMs >= newest) return
  for (const part of missing)
    console.log(
      `aether-dsm: <${part.header}> is not there, so the addon is built without RDMA devices (Debian, Ubuntu: apt-get install ${part.package})`,
    )
  const sources = files.filter((name) => name.endsWith('.cc') && !missing.some((part) => name.startsWith(part.prefix)))
  const flags = [
    '-std=c++17',
    '-fPIC',
    '-fvisibility=hidden',
    // Nothing throws, and of memory that is not there the process dies either way.
    '-fno-exceptions',
    '-Wall',
    '-Wextra',
    '-Werror=return-type',
    '-D_GNU_SOURCE',
    `-I${createRequire(import.meta.url)('node-api-headers').include_dir}`,
    ...defines,
    ...compileFlags,
  ]
  mkdirSync(folder, { recursive: true })
  mkdirSync(dirname(target), { recursive: true })
  // Names of our own until all is done: two builds at once must not see each other's halves.
  const units = unitsOf(sources, arch)
  const source = ({ name }) => join(folder, `${name}.${process.pid}.cc`)
  const object = ({ name }) => join(folder, `${name}.${process.pid}.o`)
  const whole = `${target}.${process.pid}`
  try {
    const waiting = [...units]
    // One compiler for each processor: all at once take gigabytes.
    const compileNext = async () => {
      for (let unit = waiting.pop(); unit !== undefined; unit = waiting.pop()) {
        writeFileSync(source(unit), unit.names.map((name) => `#include "${join(sourceFolder, name)}"\n`).join(''))
        const { stderr } = await run(compiler, [...flags, ...unit.flags, '-c', source(unit), '-o', object(unit)])
        if (stderr !== '') console.error(stderr)
      }
    }
    await Promise.all(Array.from({ length: availableParallelism() }, compileNext))
    await run(compiler, [...compileFlags, '-shared', ...units.map(object), '-ldl', ...linkFlags, '-o', whole])
    renameSync(whole, target)
  } catch (error) {
    throw new BuildError(`${compiler} failed\n${error.stderr ?? error.message}`)
  } finally {
    for (const path of [...units.flatMap((unit) => [source(unit), object(unit)]), whole]) rmSync(path, { force: true })
  }
  writeFileSync(builtWith, defines.join(' '))
}

async function buildOwn(name, flags) {
  const compiler = ownCompiler()
  const folder = join(here, 'build', name)
  const missing = PARTS.filter((part) => !hasHeader(compiler, part.header))
  await build({
    compiler,
    arch: process.arch,
    folder,
    target: join(folder, 'aether.node'),
    missing,
    compileFlags: flags,
    linkFlags: [],
  })
}

/** What a prebuilt addon asks of the machine: the versions of symbols by name, and no C++ library but its own. */
function checkNeeds(target) {
  const text = readFileSync(target, 'latin1')
  const [, leastMinor] = LEAST_GLIBC.split('.').map(Number)
  const tooNew = [...text.matchAll(/GLIBC_2\.(\d+)/g)].filter(([, minor]) => Number(minor) > leastMinor)
  const foreign = [...text.matchAll(/libstdc\+\+\.so|GLIBCXX_[\d.]+/g)]
  const wrong = [...new Set([...tooNew, ...foreign].map(([symbol]) => symbol))]
  if (wrong.length === 0) return
  rmSync(target)
  throw new BuildError(`${target} would need ${wrong.join(', ')}; at most glibc ${LEAST_GLIBC} is allowed`)
}

/** What would have to be installed to build the whole addon for both processors. */
function absentPackages() {
  const absent = PREBUILT.filter(({ compiler }) => !runs(compiler)).map((each) => each.package)
  for (const { compiler } of PREBUILT.filter((each) => runs(each.compiler)))
    absent.push(...PARTS.filter((part) => !hasHeader(compiler, part.header)).map((part) => part.package))
  return [...new Set(absent)]
}

async function buildPrebuilt(isRelease) {
  const absent = absentPackages()
  const advice = `(Debian, Ubuntu: apt-get install ${absent.join(' ')})`
  if (isRelease && absent.length > 0)
    throw new BuildError(`a release has the whole addon for x64 and arm64, and something is missing ${advice}`)
  for (const { arch, compiler: name } of PREBUILT) {
    const target = join(here, '..', 'prebuilds', `linux-${arch}`, 'aether.node')
    const compiler = runs(name) ? name : arch === process.arch ? ownCompiler() : undefined
    if (compiler === undefined) {
      console.log(`aether-dsm: no compiler for ${arch}, so the addon for it is left out ${advice}`)
      rmSync(target, { force: true })
      continue
    }
    await build({
      compiler,
      arch,
      folder: join(here, 'build', `Prebuilt-${arch}`),
      target,
      missing: PARTS.filter((part) => !hasHeader(compiler, part.header)),
      // Small, since it travels: the whole package has at most 5 MB.
      compileFlags: [
        '-Os',
        '-flto',
        '-fno-ident',
        '-ffunction-sections',
        '-fdata-sections',
        '-fno-asynchronous-unwind-tables',
        '-fno-unwind-tables',
        '-fvisibility-inlines-hidden',
      ],
      // libgcc_s stays shared: Node.js needs it anyway, and the static one requires glibc 2.35.
      // Unused parts of libstdc++ are dropped, because they require 2.36.
      // On arm64, what is read-only after relocation would end at a page of 64 KiB: up to that many zeros in the file.
      linkFlags: [
        '-static-libstdc++',
        '-Os',
        '-flto',
        '-Wl,--exclude-libs,ALL,--gc-sections,-z,noseparate-code,--build-id=none,--hash-style=gnu',
        ...(arch === 'arm64' ? ['-Wl,-z,norelro'] : []),
        '-s',
      ],
    })
    if (isRelease) checkNeeds(target)
  }
}

/** Only musl's loader has this name. */
const usesMusl = () => /\/ld-musl-/.test(readFileSync('/proc/self/maps', 'latin1'))

if (process.platform !== 'linux' || usesMusl()) {
  const place = process.platform === 'linux' ? 'musl' : process.platform
  console.log(`aether-dsm: no addon for ${place}; the package can be imported, and open() says what is missing`)
  process.exit(0)
}
try {
  const isRelease = process.argv.includes('--release')
  if (isRelease || process.argv.includes('--prebuilt')) await buildPrebuilt(isRelease)
  else if (process.argv.includes('--sanitize'))
    await buildOwn('Sanitized', ['-O1', '-g', '-fsanitize=address,undefined', '-fno-omit-frame-pointer'])
  else await buildOwn('Release', ['-O2'])
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  console.error(`aether-dsm: ${error.message}`)
  process.exit(1)
}

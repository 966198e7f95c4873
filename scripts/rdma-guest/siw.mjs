/**
 * The kernel's software iWARP (siw) for the guests. Debian ships no such module: it is compiled from the sources of the
 * guests' kernel, once, and kept beside it. A guest sees that folder as any other and loads it itself:
 * test/rdma/iwarp/support/siw.ts.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fromSuites } from './apt.mjs'
import { atEnd } from './cleanup.mjs'
import { guestKernel, placeModule, takeUnlessThere } from './kernel.mjs'
import { findTool } from './requirements.mjs'

const BUILD_TIMEOUT_MS = 300_000
const SOURCES = 'drivers/infiniband/sw/siw'
/** What siw needs of the kernel's modules and no guest has loaded yet, in this order. */
const NEEDED = ['crc32c_generic', 'libcrc32c']

/**
 * The folder with siw.ko and what it needs, and `order`, in which they are loaded.
 * @throws Error where it cannot be made here: the message says why
 */
export function siwModules(say) {
  const missing = ['gcc', 'make', 'strip', 'tar', 'xz'].filter((tool) => findTool(tool) === undefined)
  if (missing.length > 0) throw new Error(`siw.ko cannot be compiled: ${missing.join(', ')} is missing here`)
  const kernel = guestKernel(say)
  const folder = `${kernel}-siw`
  if (existsSync(join(folder, 'order'))) return folder
  const work = mkdtempSync(join(dirname(kernel), 'fetching-'))
  const done = atEnd(() => rmSync(work, { recursive: true, force: true }))
  try {
    const release = readFileSync(join(kernel, 'release'), 'utf8').trim()
    takeUnlessThere(build(release, work, say), folder)
  } catch (error) {
    throw new Error(
      `siw.ko could not be made: ${String(error.stderr ?? error.message)
        .trim()
        .slice(-2000)}`,
    )
  } finally {
    done()
  }
  return folder
}

function build(release, work, say) {
  const base = release.replace(/-amd64$/, '')
  const series = release.split('.').slice(0, 2).join('.')
  fromSuites(work, (apt, suite) => {
    say(`fetching the sources of ${release} from ${suite}, once`)
    const of = (version) => `linux-source-${series}=${version}`
    // Of the same version as the headers, where the suite has several.
    const headers = `linux-headers-${release}`
    const version = /^Version: (\S+)/m.exec(apt('apt-cache', 'show', headers))?.[1]
    apt('apt-get', 'download', headers, `linux-headers-${base}-common`, `linux-image-${release}`)
    apt('apt-get', 'download', kbuildOf(apt, headers), of(version))
  })
  const tree = join(work, 'tree')
  for (const name of readdirSync(work).filter((file) => file.endsWith('.deb')))
    execFileSync(findTool('dpkg-deb'), ['-x', join(work, name), tree])
  const sources = unpackSources(tree, work)
  say(`compiling siw.ko for ${release}`)
  compile(join(tree, 'usr/src', `linux-headers-${release}`), sources)
  const made = join(work, 'made')
  mkdirSync(made)
  const order = NEEDED.flatMap((name) => filesNamed(join(tree, modulesOf(tree)), name)).map((file) =>
    placeModule(file, made),
  )
  execFileSync(findTool('strip'), ['--strip-debug', '-o', join(made, 'siw.ko'), join(sources, 'siw.ko')])
  writeFileSync(join(made, 'order'), `${[...order, 'siw.ko'].join('\n')}\n`)
  return made
}

/** The package with the programs that compile modules. */
function kbuildOf(apt, headers) {
  const name = /Depends: (linux-kbuild-\S+)/.exec(apt('apt-cache', 'depends', headers))?.[1]
  if (name === undefined) throw new Error(`${headers} depends on no linux-kbuild`)
  return name
}

function unpackSources(tree, work) {
  const folder = join(tree, 'usr/src')
  const archive = readdirSync(folder).find((name) => /^linux-source-.*\.tar\.xz$/.test(name))
  execFileSync(findTool('tar'), ['-xf', join(folder, archive), '-C', work, '--wildcards', `*/${SOURCES}/*`])
  return join(work, archive.replace(/\.tar\.xz$/, ''), SOURCES)
}

/** The Makefiles of the headers name the places where packages are installed; here they lie in a folder of ours. */
function compile(headers, sources) {
  const makefile = join(headers, 'Makefile')
  const text = readFileSync(makefile, 'utf8')
  const own = join(headers, '..')
  rmSync(makefile)
  writeFileSync(makefile, text.replaceAll(/(?<=^|[\s=])\/usr\/src(?=\/)/gm, own))
  execFileSync(
    findTool('make'),
    ['-s', '-C', headers, `M=${sources}`, 'CONFIG_RDMA_SIW=m', 'CONFIG_DEBUG_INFO_BTF_MODULES=', 'modules'],
    { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] },
  )
}

const modulesOf = (tree) => ['lib/modules', 'usr/lib/modules'].find((path) => existsSync(join(tree, path)))

/** Below a folder; none for one that is built in. */
function filesNamed(folder, module) {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
    new RegExp(`(^|/)${module}\\.ko(\\.xz)?$`).test(path),
  )
  return found === undefined ? [] : [join(folder, found)]
}

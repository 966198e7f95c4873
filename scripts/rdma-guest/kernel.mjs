/**
 * The guests' kernel: Debian's 6.12, fetched once by apt into a cache folder and cut down to the image and the modules
 * a guest loads. (bookworm's own 6.1 cannot map a page write-protected with UFFDIO_CONTINUE, which coherent views
 * need.)
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fromSuites, SUITES } from './apt.mjs'
import { atEnd } from './cleanup.mjs'
import { findTool } from './requirements.mjs'

/** crc32 first: without it rdma_rxe loads, but refuses to add a device. Those after the gap shape traffic in tests. */
const MODULES = [
  ...['virtio_pci', 'virtio_net', 'virtio_console', '9pnet_virtio', '9p', 'overlay', 'veth'],
  ...['crc32_generic', 'crc32_pclmul', 'rdma_rxe', 'ib_uverbs', 'rdma_ucm', 'ib_umad'],
  ...['sch_netem', 'sch_prio', 'cls_u32'],
]

/** Where the kernel lies, or will. */
export function kernelFolder() {
  const cache =
    process.env.AETHER_RDMA_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'aether-rdma-guest')
  const key = createHash('sha256')
    .update(JSON.stringify([SUITES, MODULES]))
    .digest('hex')
    .slice(0, 12)
  return join(cache, key)
}

/** The folder with `vmlinuz`, `modules/` and `modules/order`; `say` is told when something is fetched. */
export function guestKernel(say) {
  const folder = kernelFolder()
  if (existsSync(join(folder, 'vmlinuz'))) return folder
  const cache = dirname(folder)
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetching-'))
  const done = atEnd(() => rmSync(work, { recursive: true, force: true }))
  try {
    const tree = fetchKernel(work, say)
    const made = selectFiles(tree, join(work, 'made'))
    takeUnlessThere(made, folder)
  } finally {
    done()
  }
  return folder
}

/** Another run may have been quicker; its folder is as good. */
export function takeUnlessThere(made, folder) {
  try {
    renameSync(made, folder)
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  }
}

function fetchKernel(work, say) {
  try {
    return fromSuites(work, (apt, suite) => fetchFrom(apt, suite, work, say))
  } catch (error) {
    throw new Error(`the guest kernel could not be fetched.\n${error.message}`)
  }
}

function fetchFrom(apt, suite, work, say) {
  const name = /Depends: (linux-image-\d\S*)/.exec(apt('apt-cache', 'depends', 'linux-image-amd64'))?.[1]
  if (name === undefined) throw new Error('linux-image-amd64 depends on no kernel there')
  say(`fetching ${name} from ${suite}, once`)
  apt('apt-get', 'download', name)
  const packageFile = readdirSync(work).find((file) => file.endsWith('.deb'))
  const tree = join(work, 'tree')
  execFileSync(findTool('dpkg-deb'), ['-x', join(work, packageFile), tree])
  return tree
}

function selectFiles(tree, made) {
  const moduleTree = [join(tree, 'lib/modules'), join(tree, 'usr/lib/modules')].find(existsSync)
  const release = readdirSync(moduleTree)[0]
  const base = moduleTree.startsWith(join(tree, 'usr')) ? join(tree, 'usr') : tree
  execFileSync(findTool('depmod'), ['-b', base, release])
  mkdirSync(join(made, 'modules'), { recursive: true })
  const order = [...new Set(MODULES.flatMap((name) => moduleFiles(base, release, name)))].map((file) =>
    placeModule(file, join(made, 'modules')),
  )
  writeFileSync(join(made, 'modules/order'), `${order.join('\n')}\n`)
  writeFileSync(join(made, 'release'), `${release}\n`)
  copyFileSync(join(tree, 'boot', `vmlinuz-${release}`), join(made, 'vmlinuz'))
  return made
}

/** The files of a module and of those it needs, these first. None for one that is built in. */
function moduleFiles(base, release, name) {
  try {
    const plan = execFileSync(findTool('modprobe'), ['-d', base, '-S', release, '--show-depends', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return [...plan.matchAll(/^insmod (\S+)/gm)].map(([, file]) => file)
  } catch {
    return [] // This release has no such module; what cannot work without it says so in the guest.
  }
}

/** Copies a module, unpacked, and gives its name there. */
export function placeModule(file, folder) {
  const name = basename(file).replace(/\.xz$/, '')
  if (file.endsWith('.xz')) {
    writeFileSync(join(folder, name), execFileSync(findTool('xz'), ['-dc', file], { maxBuffer: 64 << 20 }))
  } else {
    writeFileSync(join(folder, name), readFileSync(file))
  }
  return name
}

/** What the guests need of this machine, and the sentence that says how to get it. */
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A tool and the Debian package that brings it. */
const tools = [
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['busybox', 'busybox-static'],
  ['cpio', 'cpio'],
  ['depmod', 'kmod'],
  ['modprobe', 'kmod'],
  ['rdma', 'iproute2'],
  ['ip', 'iproute2'],
  ['tc', 'iproute2'],
  ['xz', 'xz-utils'],
  ['apt-get', 'apt'],
  ['dpkg-deb', 'dpkg'],
  ['setpriv', 'util-linux'],
]

/**
 * Programs and libraries that run inside the guests: their packages are named with the others, and are needed by tests,
 * not by a boot.
 */
const peers = [
  ['ibv_rc_pingpong', 'ibverbs-utils'],
  ['rping', 'rdmacm-utils'],
  ['ib_write_lat', 'perftest'],
]

const providerFolders = ['/etc/libibverbs.d', '/usr/etc/libibverbs.d']

/** Looked into also when they are not in PATH, as for users on Debian. */
const systemFolders = process.env.AETHER_RDMA_TOOL_FOLDERS ?? '/usr/sbin:/sbin'

/** Where a program lies. */
export function findTool(name) {
  for (const folder of `${process.env.PATH ?? ''}${delimiter}${systemFolders}`.split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not here.
    }
  }
  return undefined
}

/** The packages that are missing for a boot, and with `tests` also those of the programs that tests talk to. */
export function missingPackages({ tests = false } = {}) {
  const packages = [...tools, ...(tests ? peers : [])]
    .filter(([tool]) => findTool(tool) === undefined)
    .map(([, name]) => name)
  if (tests && !providerFolders.some((folder) => existsSync(join(folder, 'rxe.driver'))))
    packages.push('ibverbs-providers')
  return [...new Set(packages)]
}

/** The sentence for people, or undefined where nothing is missing. */
export function missingSentence(options) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return `soft-RoCE guests run on Linux x64 only; this is ${process.platform} ${process.arch}`
  }
  const missing = missingPackages(options)
  if (missing.length === 0) return undefined
  return `missing here: ${missing.join(', ')}. On Debian, as root: apt-get install --no-install-recommends ${missing.join(' ')}`
}

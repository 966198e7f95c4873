/** Programs on disks that are soon full, or read-only: each has one of its own, in a mount namespace. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import process from 'node:process'

const namespace = ['--user', '--map-root-user', '--mount']

/** Why there are no such disks here; undefined if there are. */
export function smallDisksRefused(): string | undefined {
  const probe = spawnSync('unshare', [...namespace, 'true'], { encoding: 'utf8' })
  if (probe.status === 0) return undefined
  return `unshare --user --mount is not to be had: ${probe.stderr?.trim() || probe.error?.message}`
}

/** Run a program with a tmpfs of so many megabytes at `directory`. It knows that, `open` and `openStructures`. */
export function onSmallDisk(directory: string, megabytes: number, program: string): SpawnSyncReturns<string> {
  mkdirSync(directory)
  const index = new URL('../../src/public/index.js', import.meta.url)
  const structures = new URL('../../src/public/structures.js', import.meta.url)
  const source = `
    import { open } from '${index}'
    import { openStructures } from '${structures}'
    const directory = '${directory}'
    ${program}`
  const mount = `mount -t tmpfs -o size=${megabytes}m,mode=700 none ${directory}`
  return inNamespace(`${mount} && exec "$0" --input-type=module -e "$1"`, source)
}

/** Run a program where `directory` is on an overlay file system. It knows that, and `open`. */
export function onOverlay(directory: string, program: string): SpawnSyncReturns<string> {
  mkdirSync(directory)
  const index = new URL('../../src/public/index.js', import.meta.url)
  const source = `
    import { open } from '${index}'
    const directory = '${directory}/merged'
    ${program}`
  const parts = `cd ${directory} && mount -t tmpfs none . && cd ${directory} && mkdir lower upper work merged`
  const mount = 'mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged'
  return inNamespace(`${parts} && ${mount} && exec "$0" --input-type=module -e "$1"`, source)
}

/** Run a script in a mount namespace; `source` is its first argument, and Node.js its name. */
export function inNamespace(script: string, source: string): SpawnSyncReturns<string> {
  const command = ['sh', '-c', script, process.execPath, source]
  return spawnSync('unshare', [...namespace, ...command], { encoding: 'utf8', timeout: 60_000 })
}

/** Disks that refuse a save: full, read-only, or with a limit of file sizes. Each is a real one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { inNamespace, smallDisksRefused } from '../structures/small-disk.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-refusing-')))
after(() => rmSync(scratch, { recursive: true }))
const RUN = 'exec "$0" --input-type=module -e "$1"'

let made = 0

function newDirectory(): string {
  const path = join(scratch, `${++made}`)
  mkdirSync(path, { mode: 0o700 })
  return path
}

/**
 * A program that saves a region of zeros, then lets the disk refuse, and saves again. It says why that failed. The file
 * must be what it was, with none beside it, and a save to elsewhere must succeed.
 */
const program = (directory: string, refuse: string, after: string = ''): string => `
  import { spawnSync } from 'node:child_process'
  import { readdirSync, readFileSync } from 'node:fs'
  import { open } from '${new URL('../../src/public/index.js', import.meta.url)}'
  const run = (...words) => {
    const { status, stderr, error } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' })
    if (status !== 0) throw new Error(words.join(' ') + ': ' + (error ?? stderr))
  }
  const space = await open('refused')
  const region = await space.openRegion('bytes', { size: '4MiB' })
  const file = '${directory}/a.save'
  await space.save({ file })
  const before = readFileSync(file)
  region.uint8.fill(1)
  ${refuse}
  const error = await space.save({ file }).catch((error) => error)
  console.log(error.code, error.message)
  if (!readFileSync(file).equals(before)) throw new Error('the older save was changed')
  if (readdirSync('${directory}').length !== 1) throw new Error('something is left: ' + readdirSync('${directory}'))
  ${after}
  await space.save({ file: '${directory}.elsewhere' })
  await space.close()
  const again = await open('refused', { save: { file } })
  if ((await again.openRegion('bytes')).uint8[0] !== 0) throw new Error('not the older one')
  await again.close()`

const refusedBy = (advice: string): RegExp => new RegExp(`^ERR_AETHER_SAVE_FAILED .*${advice}.*older save stays`)

const why = smallDisksRefused()
const skip = why ?? false

test('a full disk is named, and the older save stays', { skip }, () => {
  const directory = newDirectory()
  const { stdout, stderr } = inNamespace(
    `mount -t tmpfs -o size=1m none ${directory} && ${RUN}`,
    program(directory, ''),
  )
  assert.match(stdout, refusedBy('ENOSPC.*free some space'), stderr)
  assert.equal(stderr, '')
})

test('a disk that is mounted read-only is named; what is on it is restored all the same', { skip }, () => {
  const directory = newDirectory()
  const refuse = `run('mount', '-o', 'remount,ro', '${directory}')`
  const { stdout, stderr } = inNamespace(`mount -t tmpfs none ${directory} && ${RUN}`, program(directory, refuse))
  assert.match(stdout, refusedBy('EROFS.*file system that can be written to'), stderr)
  assert.equal(stderr, '')
})

test('so is a part of a disk that is bound read-only', { skip }, () => {
  const directory = newDirectory()
  const refuse = `run('mount', '--bind', '${directory}', '${directory}')
  run('mount', '-o', 'remount,bind,ro', '${directory}')`
  const { stdout, stderr } = inNamespace(RUN, program(directory, refuse))
  assert.match(stdout, refusedBy('EROFS.*file system that can be written to'), stderr)
  assert.equal(stderr, '')
})

const limits = spawnSync('prlimit', ['--version']).status === 0 ? false : 'there is no prlimit'

test('a limit of file sizes (ulimit -f) is named, and the older save stays', { skip: limits }, () => {
  const directory = newDirectory()
  const limit = (bytes: string) => `run('prlimit', '--pid', String(process.pid), '--fsize=${bytes}:')`
  const source = program(directory, limit('1000000'), limit('unlimited'))
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  assert.match(stdout, refusedBy('EFBIG.*ulimit -f'), stderr)
  assert.equal(stderr, '')
})

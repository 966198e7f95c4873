/** `aether bench spaces`: its rows and what it says of what is missing; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMemoryDirectory } from '../../../src/cluster/index.ts'
import { heldAgainst, openRow, Series } from '../../../tools/bench/spaces/spaces-row.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'
import { MarkedProcesses } from '../../support/marked-processes.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const small = ['bench', 'spaces', '--size', '2MiB', '--time-ms', '5']

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('aether bench spaces', options, () => {
  it('goes on without a disk where the directory is on tmpfs, and says what to pass', (test) => {
    if (!isMemoryDirectory('/dev/shm')) return test.skip('/dev/shm is no tmpfs')
    const { status, stdout, stderr } = aether(...small, '--peers', 'none', '--directory', '/dev/shm')
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^without disk: \/dev\/shm is on tmpfs; pass --directory with a directory on a disk$/m)
    assert.match(stdout, /\n {2}get +aether +tmpfs +100 B .* get, aether, memory\n/)
    assert.match(stdout, /\n {2}on tmpfs, of the time in memory: get [\d.]+x, set [\d.]+x, /)
    assert.doesNotMatch(stdout, /write-back +aether/)
  })

  it('says what it does not understand, before it makes anything', () => {
    for (const [words, expected] of [
      [['--size', '1'], /--size takes 1.00 MiB to 1.50 GiB, not '1'/],
      [['--size', 'much'], /--size must be a whole number of bytes above 0/],
      [['--directory', join(directory, 'none')], /--directory takes a directory that is there, not '.*none'/],
      [['--peers', 'pigeon'], /--peers takes .*SQLite.*, not 'pigeon'/],
    ] as const) {
      const { status, stdout, stderr } = aether('bench', 'spaces', ...words)
      assert.deepEqual([status, stdout], [2, ''])
      assert.match(stderr, expected)
    }
    const everywhere = { AETHER_DIRECTORY: directory }
    const { status, stderr } = aetherWith(everywhere, ...small)
    assert.equal(status, 1)
    assert.match(stderr, /AETHER_DIRECTORY is set: no space would be in memory; unset it/)
    assert.deepEqual(readdirSync(directory), [])
  })

  it('leaves no process and no file where it is interrupted', async () => {
    const disk = join(directory, 'disk')
    mkdirSync(disk)
    const marked = new MarkedProcesses()
    const words = ['bench', 'spaces', '--time-ms', '60000', '--size', '2MiB', '--peers', 'none']
    const child = spawn(process.execPath, [main, ...words, '--directory', disk], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: marked.environment,
    })
    const [ended, said] = [once(child, 'exit'), text(child.stderr)]
    let made: string | undefined
    while (made === undefined) {
      assert.equal(child.exitCode, null, 'it ended before it measured')
      await sleep(20)
      const maps = readFileSync(`/proc/${child.pid}/maps`, 'latin1')
      made = /(\/dev\/shm\/aether-bench-[^/\n]+|\S+\/disk\/aether-bench-[^/\n]+)\//.exec(maps)?.[1]
    }
    child.kill('SIGINT')
    assert.deepEqual(await ended, [130, null], await said)
    await marked.until((commands) => commands.length === 0)
    assert.equal(existsSync(made), false)
    assert.deepEqual(readdirSync(disk), [])
  })
})

describe('rows of the benchmark of spaces', () => {
  const named = { op: 'set', store: 'aether', place: 'disk', bytes: 100 } as const
  const turn = (operations: number, totalNs: number, ...samples: number[]) => ({
    operations,
    totalNs,
    typicalNs: totalNs / operations,
    samplesNs: Float64Array.from(samples),
  })

  it('have the ratio of the middle round, the mean of all operations, and every sample', () => {
    const series = new Series(named, 'set, aether, memory')
    // A stall in a single round makes the mean longer, and not the ratio.
    for (const totalNs of [200, 9000, 220]) series.add(turn(10, totalNs, 30, 20), turn(10, 200), 4096)
    const { row } = series
    assert.deepEqual([row.ratio, row.meanNs, row.samples], [1.1, 314, 6])
    assert.deepEqual([row.p50Ns, row.maxNs, row.writtenBytes], [30, 30, 3 * 4096])
  })

  it('say nothing of what the kernel does not tell, and hold nothing against the row itself', () => {
    const series = new Series({ ...named, place: 'memory' }, null)
    series.add(turn(1, 5, 5), turn(1, 5, 5), Number.NaN)
    assert.deepEqual([series.row.writtenBytes, series.row.ratio, series.row.baseline], [null, null, null])
  })

  it('of an opening are held against another by their medians', () => {
    const open = { ...named, op: 'open' } as const
    const row = heldAgainst(openRow({ ...open, store: 'lmdb' }, [9, 10, 90]), openRow(open, [20]))
    assert.deepEqual([row.ratio, row.baseline, row.samples], [0.5, 'open, aether, disk', 3])
  })
})

/**
 * `aether bench all`: its one array and its one page, and what it says where something is missing; nothing of how fast
 * anything is.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BenchLink } from '../../../tools/bench/link.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'
import { root } from '../../repository/checkout.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const short = ['--sizes', '8', '--time-ms', '1', '--peers', 'none']

interface Row {
  readonly suite: string
  readonly op?: string
  readonly beforeRatio?: number | null
}

describe('aether bench all', options, () => {
  it('gives the rows of all suites as one array, one page, and beside an earlier run', () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    try {
      const [file, page] = [join(directory, 'rows.json'), join(directory, 'page.html')]
      const suites = ['--suites', 'bandwidth,scaling']
      const first = aether('bench', 'all', ...short, ...suites, '--json', '--html', page)
      assert.equal(first.status, 0, first.stderr)
      writeFileSync(file, first.stdout)
      const check = spawnSync(process.execPath, [join(root, 'scripts/check-bench.mjs'), file], { encoding: 'utf8' })
      assert.equal(check.status, 0, check.stderr)
      const rows = JSON.parse(first.stdout) as Row[]
      assert.deepEqual([...new Set(rows.map(({ suite }) => suite))], ['bandwidth', 'scaling'])
      const html = readFileSync(page, 'utf8')
      for (const name of ['bandwidth', 'scaling']) assert.match(html, new RegExp(`<h2>${name}</h2>`))
      assert.match(html, /<td class="left">write-both<\/td>.*<td class="left">directory<\/td>/s)
      assert.doesNotMatch(html, /NaN|undefined|Infinity|<script|https?:/)
      const { status, stdout, stderr } = aether('bench', 'all', ...short, ...suites, '--json', '--compare', file)
      assert.equal(status, 0, stderr)
      const compared = (JSON.parse(stdout) as Row[]).filter(({ suite }) => suite === 'bandwidth')
      assert.ok(compared.length > 0 && compared.every(({ beforeRatio }) => beforeRatio! > 0))
      // One suite beside a run of all: its own rows.
      const one = aether('bench', 'bandwidth', '--sizes', '8', '--time-ms', '1', '--compare', file)
      assert.match(one.stdout, /\n {2}write +shm +8 B .*x\n/, one.stderr)
      // And none of others that have the same names.
      const other = aether('bench', 'latency', '--sizes', '8', '--time-ms', '1', '--compare', file)
      assert.match(other.stderr, /holds rows of bandwidth, scaling, none of latency/)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('says which suites there are, and that a device is not', () => {
    const unknown = aether('bench', 'all', '--suites', 'speed')
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /--suites takes latency or .* or spaces, not 'speed'/)
    const device = aether('bench', 'all', '--device', 'rxe9', '--json')
    assert.deepEqual([device.status, device.stdout], [1, ''])
    assert.match(device.stderr, /^aether: .*rxe9/)
  })

  it('goes on where a suite fails, says so, and ends with 1', () => {
    const nowhere = { AETHER_DEVICE: 'rxe9' }
    const two = ['--suites', 'dsm,scaling', '--time-ms', '1', '--json']
    const { status, stdout, stderr } = aetherWith(nowhere, 'bench', 'all', ...two)
    assert.equal(status, 1)
    assert.match(stderr, /^without dsm: .*rxe9/ms)
    assert.deepEqual([...new Set((JSON.parse(stdout) as Row[]).map(({ suite }) => suite))], ['scaling'])
  })
})

describe('aether bench with files', options, () => {
  it('refuses a file that it cannot read or write, or that is of another benchmark, before it measures', () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    try {
      const file = join(directory, 'rows.json')
      writeFileSync(file, aether('bench', 'scaling', '--nodes', '2', '--json').stdout)
      const nowhere = join(directory, 'none', 'page.html')
      const foreign = join(directory, 'foreign.json')
      writeFileSync(foreign, '[{"suite":"latency","work":"write"}]')
      for (const [words, expected] of [
        [['--compare', nowhere], /^aether: --compare: .* cannot be read: there is no such file\n$/],
        [
          ['--compare', file],
          /^aether: --compare: .* holds rows of scaling, none of latency: .*'npx aether-dsm bench latency --json'/,
        ],
        [
          ['--html', nowhere],
          /^aether: --html: .* cannot be written: there is no directory .*none; mkdir -p makes it\n$/,
        ],
        [['--html', directory], /^aether: --html: .* cannot be written: it is a directory: name a file in it\n$/],
        [
          ['--compare', foreign],
          /^aether: --compare: .* has rows of latency that this version does not know: measure the earlier run again\n$/,
        ],
      ] as const) {
        const { status, stdout, stderr } = aether('bench', 'latency', ...words)
        assert.deepEqual([status, stdout], [1, ''])
        assert.match(stderr, expected)
      }
      // Also where it is of a suite that comes later.
      const all = ['--suites', 'scaling,latency', ...short]
      const { status, stdout, stderr } = aether('bench', 'all', ...all, '--compare', foreign)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^aether: --compare: .* has rows of latency that this version does not know/)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('refuses an option that is of another benchmark, and says which there are', () => {
    for (const [name, option] of [
      ['dsm', '--sizes'],
      ['scaling', '--device'],
      ['latency', '--trace'],
      ['all', '--ranks'],
    ] as const) {
      const { status, stdout, stderr } = aether('bench', name, option, '8')
      assert.deepEqual([status, stdout], [2, ''])
      assert.match(
        stderr,
        new RegExp(`${option} is not for bench ${name}, which takes --.*, --compare, --html, --json\n`),
      )
    }
    const { status, stderr } = aether('bench', 'dsm', '--page-sizes', '4096,5000')
    assert.deepEqual([status, stderr.split('\n')[0]], [2, "aether: --page-sizes takes multiples of 4096, not '5000'"])
  })
})

describe('aether bench that is interrupted', options, () => {
  it('ends soon, says so by its status, and leaves no directory, although it spins', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    try {
      // A minute for each row: without a turn now and then it would not hear of it before.
      const words = ['bench', 'rpc', '--peers', 'none', '--sizes', '8', '--time-ms', '60000']
      const child = spawn(process.execPath, [main, ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, TMPDIR: directory },
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (said += text))
      const ended = once(child, 'close')
      while (readdirSync(directory).length === 0) {
        assert.deepEqual([child.exitCode, child.signalCode], [null, null], `it ended before it measured: ${said}`)
        await sleep(20)
      }
      await sleep(500)
      child.kill('SIGINT')
      assert.deepEqual(await ended, [130, null])
      assert.deepEqual(readdirSync(directory), [])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('does not spin for a process that has ended', async () => {
    const link = await BenchLink.open('shm0', 64)
    try {
      const spinning = link.serving('watch', 8, async () => {
        const [child] = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')
        process.kill(Number(child), 'SIGKILL')
        for (;;) link.otherEnd.missed()
      })
      await assert.rejects(spinning, /the other process of the benchmark ended/)
    } finally {
      link.close()
    }
  })
})

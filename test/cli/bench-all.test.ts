/** `aether bench all`: its one array and its one page, and what it says where something is missing; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, it } from 'node:test'
import { root } from '../repository/checkout.ts'
import { aether, aetherWith } from './command-line.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
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
      for (const name of ['bandwidth', 'scaling']) assert.match(html, new RegExp(`<h1>${name}</h1>`))
      assert.match(html, /<td>write-both<\/td>.*<td>directory<\/td>/s)
      assert.doesNotMatch(html, /NaN|undefined|Infinity|<script|https?:/)
      const { status, stdout, stderr } = aether('bench', 'all', ...short, ...suites, '--json', '--compare', file)
      assert.equal(status, 0, stderr)
      const compared = (JSON.parse(stdout) as Row[]).filter(({ suite }) => suite === 'bandwidth')
      assert.ok(compared.length > 0 && compared.every(({ beforeRatio }) => beforeRatio! > 0))
      // One suite beside a run of all: its own rows, although others have the same names.
      const one = aether('bench', 'latency', '--sizes', '8', '--time-ms', '1', '--compare', file)
      assert.match(one.stdout, /\n {2}write +shm +8 B .* no such row\n/, one.stderr)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('says which suites there are, and that a device is not', () => {
    const unknown = aether('bench', 'all', '--suites', 'speed')
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /--suites takes latency or .* or structures, not 'speed'/)
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

describe('--compare and --html', options, () => {
  it('are refused where rows have another shape', () => {
    for (const name of ['collectives', 'dsm', 'scaling', 'structures'])
      for (const option of ['--compare', '--html']) {
        const { status, stdout, stderr } = aether('bench', name, option, 'file')
        assert.deepEqual([status, stdout], [2, ''])
        const text = `${option} is for latency, bandwidth, messaging, rpc, ops, all: the rows of bench ${name} have another shape`
        assert.ok(stderr.includes(text), stderr)
      }
  })
})

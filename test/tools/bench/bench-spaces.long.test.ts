/** `aether bench spaces`: its rows and what it says of what is missing; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SpacesRow } from '../../../tools/bench/spaces/spaces-row.ts'
import { aether } from '../../cli/command-line.ts'
import { root } from '../../repository/checkout.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const small = ['bench', 'spaces', '--size', '2MiB', '--time-ms', '5']

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('aether bench spaces beside every store', options, () => {
  it('prints the promised rows as JSON, and why a store or a place is not among them', (test) => {
    const { status, stdout, stderr } = aether(...small, '--json', '--directory', directory)
    assert.equal(status, 0, stderr)
    const file = join(directory, 'rows.json')
    writeFileSync(file, stdout)
    const check = spawnSync(process.execPath, [join(root, 'scripts/check-bench.mjs'), file], { encoding: 'utf8' })
    assert.equal(check.status, 0, check.stderr)
    const rows = JSON.parse(stdout) as SpacesRow[]
    const opsOf = (name: string, where: string): string =>
      rows.flatMap(({ op, store, place }) => (store.startsWith(name) && place === where ? [op] : [])).join('; ')
    const isMissing = (what: string): boolean => stderr.includes(`without ${what}: `)
    const written = '; set, write-back'
    assert.equal(opsOf('aether', 'memory'), `get; set; push; pop; add${isMissing('disk') ? '' : written}; open`)
    assert.equal(opsOf('aether', 'tmpfs'), 'get; set; push; pop; add; open')
    for (const place of ['tmpfs', 'disk'] as const) {
      const [more, isHere] = [place === 'disk' ? written : '', !isMissing(place)]
      assert.equal(opsOf('aether', place), isHere ? `get; set; push; pop; add${more}; open` : '', stderr)
      for (const peer of ['lmdb', 'SQLite']) {
        if (isHere && isMissing(`${peer} on ${place}`)) test.diagnostic(stderr)
        const expected = isHere && !isMissing(`${peer} on ${place}`) ? `get; set${more}; open` : ''
        assert.equal(opsOf(peer, place), expected, stderr)
      }
    }
    for (const { op, store, place, baseline } of rows) {
      const own = `${op}, aether, ${op === 'open' ? place : 'memory'}`
      assert.equal(baseline, `${op}, ${store}, ${place}` === own ? null : own)
    }
    assert.deepEqual(readdirSync(directory), ['rows.json'])
  })
})

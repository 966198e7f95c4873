import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { AdvicePart, readAdviceParts } from '../../../src/dsm/advice/advice-parts.ts'
import { BOUNCES_MIN } from '../../../src/dsm/advice/bounce-counts.ts'
import { SharingWatch } from '../../../src/dsm/advice/sharing-watch.ts'

const PAGE = 4096

describe('parts of advice', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'aether-parts-'))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  /** A rank that has written a byte of page 3 again and again. */
  function write(rank: number, byte: number): void {
    const bytes = new Uint8Array(PAGE)
    const watch = new SharingWatch({ region: 'r', pageBytes: PAGE, now: () => 0, bytesOf: () => bytes })
    for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) {
      watch.writable(3)
      bytes[byte]! += 1
      watch.writeEnded(3, 'writer')
    }
    const facts = { region: 'r', size: 10 * PAGE, pageSize: PAGE, rank, ranks: 2 }
    new AdvicePart(directory, 5, facts, watch).close()
    watch.close()
  }

  test('of one region and rank do not take the place of each other, and what both say of a page is of one writer', () => {
    write(0, 100)
    write(0, 108)
    write(1, 2000)
    assert.equal(readdirSync(directory).length, 3)
    const [advice] = readAdviceParts(directory)
    const [page] = advice!.pages
    assert.equal(page?.kind, 'false-sharing')
    assert.deepEqual(
      page?.writers.map(({ rank, ranges }) => [rank, ranges]),
      [
        [0, [{ begin: 100, end: 109 }]],
        [1, [{ begin: 2000, end: 2001 }]],
      ],
    )
  })

  test('that are none are left out', () => {
    const [whole] = readAdviceParts(directory)
    const garbage = [
      '',
      '{"region":"r",',
      'null',
      '[]',
      '{}',
      '{"region":"r","size":40960,"pageSize":4096,"rank":0,"ranks":1e9,"records":[]}',
    ]
    for (const [index, text] of garbage.entries()) writeFileSync(join(directory, `garbage-${index}.json`), text)
    assert.deepEqual(readAdviceParts(directory), [whole])
  })
})

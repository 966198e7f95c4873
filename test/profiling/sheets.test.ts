import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineCounters, Profile, ProfilingArea } from '../../src/profiling/index.ts'
import { Sheets } from '../../src/profiling/sheets.ts'

const links = defineCounters('test.links', ['messages'], { labelled: 'link' })
const AREA_BYTES = 8192

test('who reads while figures go into the rest reads again, so that nothing is there twice or missing', () => {
  const memory = new SharedArrayBuffer(AREA_BYTES)
  const area = new ProfilingArea(memory, 0, AREA_BYTES)
  const blocks = Array.from({ length: 4 }, (_, link) => area.counters(links, `link ${link}`))
  for (const block of blocks) block.add('messages', 1000)
  const sheets = new Sheets(memory, 0, AREA_BYTES, 'reader')
  const labels = (): string[] =>
    Profile.read(memory, 0, AREA_BYTES)
      .counters()
      .map(({ label }) => label)
  let reads = 0
  const read = sheets.undisturbed(() => {
    reads += 1
    const seen = labels()
    // Another thread's connection ends, twice.
    if (reads < 3) blocks[reads]!.close()
    return seen
  })
  assert.deepEqual([reads, read], [3, ['', 'link 0', 'link 3']])
})

test('what never rests, or was left half done, is read all the same', () => {
  const memory = new SharedArrayBuffer(AREA_BYTES)
  const area = new ProfilingArea(memory, 0, AREA_BYTES)
  const sheets = new Sheets(memory, 0, AREA_BYTES)
  area.counters(links, 'a').add('messages', 7)
  let reads = 0
  sheets.undisturbed(() => {
    reads += 1
    area.counters(links, 'b').close()
  })
  assert.ok(reads > 1 && reads < 100, `${reads}`)
  assert.throws(() =>
    sheets.transfer(() => {
      throw new Error('terminated')
    }),
  )
  assert.equal(Profile.read(memory, 0, AREA_BYTES).total('test.links', 'messages'), 7)
})

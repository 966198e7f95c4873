import assert from 'node:assert/strict'
import { openSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { EventStore } from '../../src/dashboard/event-store.ts'
import { describePage } from '../../src/dashboard/page-description.ts'
import { RegionSight } from '../../src/dashboard/region-sight.ts'
import { directory } from '../../src/dsm/index.ts'
import { EventKind, Journal, JournalReader, type RegionFacts } from '../../src/dsm/observation/index.ts'
import { EVENTS_KEPT, SHOWN_REGIONS_MAX } from '../../src/dsm/observation/journal-layout.ts'

const PAGES = 1024
const facts = (id: number, name: string): RegionFacts => ({
  id,
  name,
  protocol: 'directory',
  pages: PAGES,
  pageBytes: 4096,
  size: PAGES * 4096,
})
const readerOf = ({ descriptor }: Journal): JournalReader =>
  JournalReader.over(openSync(`/proc/self/fd/${descriptor}`, 'r'))!
const stateOf = (name: string): number => 1 + Object.keys(directory.cache.states).indexOf(name)

describe('regions of a journal', () => {
  test('are shown one after the other, however many there were, and those that have ended take no memory', () => {
    const journal = new Journal(0, 1)
    const reader = readerOf(journal)
    const used = (): number => statSync(`/proc/self/fd/${journal.descriptor}`).blocks
    let once = 0
    for (let number = 0; number < 5 * SHOWN_REGIONS_MAX; number += 1) {
      const sheet = journal.addRegion(facts(1, 'job'))
      assert.ok(sheet !== undefined, `of region ${number} there is a sheet`)
      for (let page = 0; page < PAGES; page += 1)
        sheet.write(page, { copy: stateOf('M'), directory: 0, owner: -1, version: 0 })
      assert.deepEqual(
        reader.regions().map(({ name, pages }) => [name, pages]),
        [['job', PAGES]],
      )
      sheet.end()
      assert.deepEqual(reader.regions(), [])
      if (number === 0) once = used()
    }
    assert.ok(used() <= once + 8, `${used()} blocks of memory, and ${once} after the first`)
    reader.close()
    journal.close()
  })

  test('are not mistaken for what had their place before: neither states, nor cells, nor history', () => {
    const journal = new Journal(0, 1)
    const reader = readerOf(journal)
    const events = new EventStore()
    const before = journal.addRegion(facts(1, 'job'))!
    for (const page of [3, 300]) {
      before.write(page, { copy: stateOf('M'), directory: 0, owner: -1, version: 0 })
      before.record({ what: EventKind.Wanted, page, before: 2 })
      before.countCacheCell(1)
    }
    const [shown] = reader.regions()
    const sight = RegionSight.of(shown!)!
    sight.take(reader, shown!)
    reader.events((event) => events.add(event))
    assert.equal(describePage(sight, 3, events).history.length, 1)
    assert.notEqual(sight.map.states[300], 0)

    before.end()
    // Of the same name and number, between two looks.
    const after = journal.addRegion(facts(1, 'job'))!
    after.write(3, { copy: stateOf('S'), directory: 0, owner: -1, version: 0 })
    const [again] = reader.regions()
    assert.equal(again!.index, shown!.index, 'it has the same place')
    assert.ok(sight.isSame(again!))
    sight.take(reader, again!)
    assert.deepEqual(describePage(sight, 3, events).history, [])
    assert.equal(describePage(sight, 3, events).copies[0]?.state, 'S')
    assert.equal(sight.map.states[300], 0, 'nothing is known of that page')
    assert.deepEqual(sight.cells(), [])
    reader.close()
    journal.close()
  })
})

describe('events of a journal', () => {
  const count = (reader: JournalReader): readonly [read: number, lost: number] => {
    let read = 0
    const lost = reader.events(() => read++)
    return [read, lost]
  }

  test('are read from its beginning, also where they were written before it was opened, unless there are too many to be had', () => {
    const journal = new Journal(0, 1)
    const sheet = journal.addRegion(facts(1, 'job'))!
    for (let page = 0; page < 3; page += 1) sheet.record({ what: EventKind.Wanted, page, before: 2 })
    const early = readerOf(journal)
    assert.deepEqual(count(early), [3, 0])
    sheet.record({ what: EventKind.Wanted, page: 3, before: 2 })
    assert.deepEqual(count(early), [1, 0])
    for (let number = 0; number < EVENTS_KEPT; number += 1) sheet.record({ what: EventKind.Wanted, page: 4, before: 2 })
    const late = readerOf(journal)
    assert.deepEqual(count(late), [0, 0], 'from now on')
    for (const reader of [early, late]) reader.close()
    journal.close()
  })
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createFrames, HUGE_PAGE_BYTES } from '../../../src/dsm/coherent/frame-object.ts'
import type { MemoryUse } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { native } from '../../../src/native/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const ways = 'refused' in probe ? ['async', 'sync'] : ['async', 'sync', 'view']

const POOL = '/sys/kernel/mm/hugepages/hugepages-2048kB'
const PAGES = 8
const RANKS = 2

function freeInPool(): number {
  try {
    return (
      Number(readFileSync(`${POOL}/free_hugepages`, 'utf8')) - Number(readFileSync(`${POOL}/resv_hugepages`, 'utf8'))
    )
  } catch {
    return 0
  }
}

/** Regions that were closed give their memory back a moment later. */
async function untilGivenBack(): Promise<void> {
  for (let turn = 0; turn < 100 && freeInPool() < RANKS * PAGES; turn += 1) await setTimeout(20)
}

const noPool =
  freeInPool() < RANKS * PAGES &&
  `${RANKS * PAGES} free huge pages of 2 MiB are needed (sysctl -w vm.nr_hugepages=${RANKS * PAGES})`

test('pages that are no multiple of 2 MiB are never huge', () => {
  const { descriptor, pages } = createFrames(4 * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES / 2, true)
  assert.equal(pages, 'ordinary')
  assert.equal(native.describeMemory(descriptor).pageBytes, 4096)
  native.closeDescriptor(descriptor)
})

test('a pool that has not enough for a whole region gives none of it', () => {
  // More than any machine sets aside.
  const { descriptor, pages } = createFrames(2 ** 45, HUGE_PAGE_BYTES, true)
  assert.notEqual(pages, 'huge')
  assert.equal(native.describeMemory(descriptor).pageBytes, 4096)
  native.closeDescriptor(descriptor)
})

test('memory that is taken by touching it is whole', (context) => {
  const descriptor = native.createMemory('aether-test', 2 * HUGE_PAGE_BYTES, 0)
  const buffer = native.mapMemory(descriptor, 0, 2 * HUGE_PAGE_BYTES, 0)
  const result = native.populateHuge(descriptor, HUGE_PAGE_BYTES, new Uint8Array(buffer, HUGE_PAGE_BYTES))
  if (result === -constants.errno.EINVAL) context.skip('this kernel was built without transparent huge pages')
  else {
    assert.equal(result, 0)
    assert.equal(native.describeMemory(descriptor).allocatedBytes, HUGE_PAGE_BYTES)
  }
  native.unmapMemory(buffer)
  native.closeDescriptor(descriptor)
})

describe('a region with pages of 2 MiB', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, RANKS)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  async function sweepAll(name: string, options: object): Promise<string[]> {
    const size = PAGES * HUGE_PAGE_BYTES
    await untilGivenBack()
    await ranks.all('open', name, { size, pageSize: '2MiB', ...options })
    const kinds = await Promise.all([0, 1].map((rank) => ranks.on<MemoryUse>(rank, 'memoryUse', name)))
    await ranks.on(1, 'seedPages', name, 0, PAGES)
    for (const [round, way] of ways.entries()) {
      const { wrong } = await ranks.on<{ wrong: number[] }>(round % 2, 'sweep', name, 0, PAGES, way, round + 1)
      assert.deepEqual(wrong, [], way)
    }
    await ranks.all('close', name)
    return kinds.map(({ pages }) => pages)
  }

  for (const coherence of ['mesi', 'moesi', 'directory', 'token'])
    test(`${coherence}: is of huge pages from the pool`, { skip: noPool }, async (context) => {
      const kinds = await sweepAll(`huge-${coherence}`, { coherence })
      // Somebody else may have taken of the pool meanwhile.
      if (kinds.includes('ordinary') || kinds.includes('transparent'))
        context.skip(`the pool had not enough: ${kinds.join(', ')}`)
    })

  test('gives huge pages back where its cache is bounded', { skip: noPool }, async () => {
    await sweepAll('huge-bounded', { coherence: 'mesi', cacheSize: 4 * HUGE_PAGE_BYTES })
  })

  test('says what it is made of where there is no pool', async () => {
    const kinds = await sweepAll('any', { coherence: 'directory' })
    for (const kind of kinds) assert.match(kind, /^(huge|transparent|ordinary)$/)
  })
})

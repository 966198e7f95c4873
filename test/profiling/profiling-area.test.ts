import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  type CounterBlock,
  defineCounters,
  defineHistogram,
  PROFILING_AREA_BYTES,
  Profile,
  ProfilingArea,
} from '../../src/profiling/index.ts'

const links = defineCounters('test.links', ['messages', 'open'], { gauges: ['open'], labelled: 'link' })
const waits = defineHistogram('test.waits', { labelled: 'link' })

function newArea(lengthBytes = PROFILING_AREA_BYTES): { memory: SharedArrayBuffer; area: ProfilingArea } {
  const memory = new SharedArrayBuffer(lengthBytes)
  return { memory, area: new ProfilingArea(memory, 0, lengthBytes, 3) }
}

const byLabel = (profile: Profile, counter: string): Record<string, number> =>
  Object.fromEntries(profile.counters().map(({ label, rest, values }) => [rest ? 'rest' : label, values[counter]!]))

test('blocks of one layout are told apart by their labels', () => {
  const { memory, area } = newArea()
  area.counters(links, 'a').add('messages', 1)
  area.counters(links, 'b').add('messages', 2)
  area.histogram(waits, 'a').record(100)
  const profile = Profile.read(memory)
  assert.deepEqual(byLabel(profile, 'messages'), { rest: 0, a: 1, b: 2 })
  assert.equal(profile.total('test.links', 'messages'), 3)
  assert.equal(profile.histograms().find(({ label }) => label === 'a')?.count, 1)
  assert.equal(profile.histogram('test.waits').count, 1)
  assert.equal(profile.histogram('test.nothing').count, 0)
})

test('a label too long for a block is cut, and told from others that begin alike', () => {
  const { memory, area } = newArea()
  const long = 'ä'.repeat(60)
  area.counters(links, `${long}1`)
  area.counters(links, `${long}2`)
  const labels = Profile.read(memory)
    .counters()
    .map(({ label }) => label)
    .filter((label) => label !== '')
  assert.equal(new Set(labels).size, 2)
  for (const label of labels) assert.match(label, /^ä{20,}~[0-9a-f]{8}$/)
})

test('what has ended is in the rest, without its gauges, and its place is used again', () => {
  const { memory, area } = newArea(4096)
  for (let link = 1; link <= 1000; link += 1) {
    const block = area.counters(links, `link ${link}`)
    assert.equal(block.shared, true, `link ${link} found no place`)
    block.add('messages', link)
    block.set('open', 1)
    block.close()
    block.close()
    block.add('messages', 1_000_000)
  }
  const profile = Profile.read(memory, 0, 4096)
  assert.deepEqual(byLabel(profile, 'messages'), { rest: 500_500 })
  assert.equal(profile.total('test.links', 'open'), 0)
  assert.equal(profile.unplaced, 0)
})

test('a full area says how many found no place, and their figures are in the rest', () => {
  const { memory, area } = newArea(4096)
  const blocks = Array.from({ length: 40 }, (_, link) => area.counters(links, `link ${link}`))
  for (const block of blocks) {
    block.add('messages', 1)
    block.set('open', 1)
  }
  const unplaced = blocks.filter(({ shared }) => !shared).length
  assert.ok(unplaced > 0 && unplaced < 40)
  const full = Profile.read(memory, 0, 4096)
  assert.equal(full.unplaced, unplaced)
  assert.equal(full.total('test.links', 'messages'), 40)
  assert.equal(byLabel(full, 'messages')['rest'], unplaced)
  assert.equal(full.total('test.links', 'open'), 40 - unplaced)
  for (const block of blocks) block.close()
  const empty = Profile.read(memory, 0, 4096)
  assert.deepEqual([empty.unplaced, byLabel(empty, 'messages')], [0, { rest: 40 }])
})

test('an area with no room at all still lets things count', () => {
  const { memory, area } = newArea(1024)
  const block = area.histogram('test.large')
  block.record(5)
  assert.equal(block.summary().count, 1)
  assert.deepEqual([Profile.read(memory, 0, 1024).unplaced, block.shared], [1, false])
  block.close()
  assert.equal(Profile.read(memory, 0, 1024).unplaced, 0)
})

test('a difference holds over what ended in between', () => {
  const { memory, area } = newArea()
  const [a, b] = ['a', 'b'].map((label) => area.counters(links, label)) as [CounterBlock, CounterBlock]
  const wait = area.histogram(waits, 'a')
  a.add('messages', 100)
  wait.record(10)
  const before = Profile.read(memory)
  a.add('messages', 1)
  wait.record(20)
  b.add('messages', 2)
  a.close()
  wait.close()
  const c = area.counters(links, 'c')
  c.add('messages', 4)
  c.close()
  area.counters(links, 'd').set('open', 7)
  const since = Profile.read(memory).since(before)
  assert.deepEqual(byLabel(since, 'messages'), { rest: 5, b: 2, d: 0 })
  assert.equal(since.histogram('test.waits').count, 1)
  assert.equal(since.total('test.links', 'open'), 7)
})

test('blocks move into other memory with what they have counted, and go on there', () => {
  const { memory: first, area } = newArea()
  const a = area.counters(links, 'a')
  const b = area.counters(links, 'b')
  const unlabelled = area.histogram('test.plain')
  a.add('messages', 1)
  b.add('messages', 10)
  b.close()
  unlabelled.record(1)
  const before = Profile.read(first)
  const second = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  area.moveTo(second, 0, PROFILING_AREA_BYTES, 9)
  a.add('messages', 1)
  assert.deepEqual(Profile.read(first).counters(), [])
  const moved = Profile.read(second)
  assert.deepEqual(byLabel(moved, 'messages'), { rest: 10, a: 2 })
  assert.equal(moved.histogram('test.plain').count, 1)
  assert.deepEqual(
    moved.counters().map(({ thread }) => thread),
    [9, 9],
  )
  assert.equal(moved.since(before).total('test.links', 'messages'), 1)
})

test('blocks that had no place get one where there is more room, and nothing is counted twice', () => {
  const { area } = newArea(2048)
  const blocks = Array.from({ length: 20 }, (_, link) => area.counters(links, `link ${link}`))
  for (const block of blocks) block.add('messages', 1)
  const large = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  area.moveTo(large)
  for (const block of blocks) block.add('messages', 1)
  const profile = Profile.read(large)
  assert.equal(profile.unplaced, 0)
  assert.equal(profile.total('test.links', 'messages'), 40)
  assert.equal(byLabel(profile, 'messages')['link 19'], 1)
  const small = new SharedArrayBuffer(2048)
  area.moveTo(small, 0, 2048)
  assert.equal(Profile.read(small, 0, 2048).total('test.links', 'messages'), 40)
})

test('what finds no place in the memory that blocks move to counts in the rest there, without its gauges', () => {
  const { area } = newArea()
  const blocks = Array.from({ length: 20 }, (_, link) => area.counters(links, `link ${link}`))
  for (const block of blocks) {
    block.add('messages', 1)
    block.set('open', 1)
  }
  const small = new SharedArrayBuffer(2048)
  area.moveTo(small, 0, 2048)
  const placed = blocks.filter(({ shared }) => shared).length
  assert.ok(placed > 0 && placed < 20, `${placed}`)
  const profile = Profile.read(small, 0, 2048)
  assert.deepEqual([profile.total('test.links', 'messages'), profile.total('test.links', 'open')], [20, placed])
  for (const block of blocks) block.close()
  assert.equal(Profile.read(small, 0, 2048).total('test.links', 'open'), 0)
})

/** Fill an area of this length with blocks of one layout; to close them makes room again. */
function fill(area: ProfilingArea): readonly CounterBlock[] {
  const blocks: CounterBlock[] = []
  do blocks.push(area.counters(links, `link ${blocks.length}`))
  while (blocks.at(-1)?.shared === true)
  return blocks
}

test('a rest that found no place takes that of the first block to end, with what has counted in it and goes on', () => {
  const late = defineCounters('test.late', ['messages', 'open'], { gauges: ['open'], labelled: 'link' })
  const { memory, area } = newArea(4096)
  const blocks = fill(area)
  const [one, none] = ['one', 'none'].map((label) => area.counters(late, label)) as [CounterBlock, CounterBlock]
  one.add('messages', 1)
  none.add('messages', 2)
  none.close()
  for (const block of blocks) block.close()
  const total = (): number => Profile.read(memory, 0, 4096).total('test.late', 'messages')
  const two = area.counters(late, 'two')
  assert.deepEqual([one.shared, two.shared], [false, true])
  two.add('messages', 1000)
  two.set('open', 1)
  assert.equal(total(), 1000)
  const before = Profile.read(memory, 0, 4096)
  two.close()
  assert.equal(total(), 1003)
  one.add('messages', 10)
  assert.equal(total(), 1013)
  two.add('messages', 1_000_000)
  const three = area.counters(late, 'three')
  three.add('messages', 5)
  three.close()
  const profile = Profile.read(memory, 0, 4096)
  const ofLate = profile.counters().filter(({ name }) => name === 'test.late')
  assert.deepEqual(
    ofLate.map(({ rest, values }) => ({ rest, values })),
    [{ rest: true, values: { messages: 1018, open: 0 } }],
  )
  // With what was counted where nobody could see it.
  assert.equal(profile.since(before).total('test.late', 'messages'), 18)
  assert.equal(profile.unplaced, 1)
  one.close()
  assert.deepEqual([total(), Profile.read(memory, 0, 4096).unplaced], [1018, 0])
})

test('a rest of histograms that found no place takes that of the first to end', () => {
  const { memory, area } = newArea(16_384)
  const blocks = fill(area)
  const one = area.histogram(waits, 'one')
  one.record(100)
  for (const block of blocks) block.close()
  const two = area.histogram(waits, 'two')
  assert.deepEqual([one.shared, two.shared], [false, true])
  two.record(5000)
  two.close()
  one.record(200)
  const { count, maxNs } = Profile.read(memory, 0, 16_384).histogram('test.waits')
  assert.deepEqual([count, maxNs], [3, 5000])
})

test('what a block without a label counts after its end is not in the rest', () => {
  const { memory, area } = newArea()
  const block = area.counters(links)
  block.add('messages', 1)
  block.close()
  block.add('messages', 10)
  assert.deepEqual(byLabel(Profile.read(memory), 'messages'), { rest: 1 })
})

test('gauges say how things are, also after a stay where there was no place', () => {
  const { memory, area } = newArea()
  const blocks = Array.from({ length: 20 }, (_, link) => area.counters(links, `link ${link}`))
  for (const block of blocks) block.set('open', 3)
  area.moveTo(new SharedArrayBuffer(2048), 0, 2048)
  assert.ok(blocks.some(({ shared }) => !shared))
  for (const block of blocks.slice(10)) block.set('open', block.get('open') + 1)
  const late = area.counters(links, 'late')
  assert.equal(late.shared, false)
  late.set('open', 7)
  const back = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  area.moveTo(back)
  for (const block of blocks) block.set('open', block.get('open') - 1)
  assert.equal(Profile.read(memory).total('test.links', 'open'), 0)
  const open = Profile.read(back)
    .counters()
    .map(({ rest, label, values }) => [rest ? 'rest' : label, values['open']])
  const expected = blocks.map(({ label }, link) => [label, link < 10 ? 2 : 3])
  assert.deepEqual(Object.fromEntries(open), { ...Object.fromEntries(expected), late: 7, rest: 0 })
  for (const block of [...blocks, late]) block.close()
  assert.equal(Profile.read(back).total('test.links', 'open'), 0)
})

for (const wasFull of [false, true])
  test(`a reader that does not know a layout finds its names in the area${wasFull ? ', if that was full when it came, too' : ''}`, async () => {
    const { memory, area } = newArea()
    const blocks = wasFull ? fill(area) : []
    const others = defineCounters(`test.others${wasFull}`, ['messages'], { labelled: 'link' })
    area.counters(others, 'before').add('messages', 1)
    for (const block of blocks) block.close()
    area.counters(others, 'a').add('messages', 5)
    const module = new URL('../../src/profiling/index.js', import.meta.url).href
    const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(${JSON.stringify(module)}).then(({ Profile }) => parentPort.postMessage(Profile.read(workerData).toJSON()))`
    const worker = new Worker(program, { eval: true, workerData: memory })
    const json = await new Promise<unknown>((resolve) => worker.once('message', resolve))
    assert.deepEqual(json, Profile.read(memory).toJSON())
  })

test('threads that take and give back places of one area at a time never share one', async () => {
  const memory = new SharedArrayBuffer(8192)
  const module = new URL('../../src/profiling/index.js', import.meta.url).href
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(${JSON.stringify(module)}).then(({ defineCounters, ProfilingArea }) => {
      const layout = defineCounters('test.thread' + workerData.thread, ['counted'], { labelled: 'n' })
      const area = new ProfilingArea(workerData.memory, 0, 8192, workerData.thread)
      let wrong = 0
      for (let n = 1; n <= 5000; n++) {
        const blocks = [area.counters(layout, 'a' + n), area.counters(layout, 'b' + n)]
        for (const block of blocks) if (block.shared && block.get('counted') !== 0) wrong++
        for (const block of blocks) block.add('counted', n)
        for (const block of blocks) if (block.shared && block.get('counted') !== n) wrong++
        for (const block of blocks) block.close()
      }
      parentPort.postMessage(wrong)
    })`
  const workers = [1, 2, 3].map((thread) => new Worker(program, { eval: true, workerData: { memory, thread } }))
  const wrong = await Promise.all(
    workers.map((worker) => new Promise<number>((resolve) => worker.once('message', resolve))),
  )
  assert.deepEqual(wrong, [0, 0, 0])
  const profile = Profile.read(memory, 0, 8192)
  for (const thread of [1, 2, 3]) assert.equal(profile.total(`test.thread${thread}`, 'counted'), 2 * 12_502_500)
  assert.equal(profile.unplaced, 0)
})

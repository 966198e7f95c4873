/**
 * One of the demo's counting processes: does the tasks that its parent sends, and ends when the parent goes.
 * @module
 */
import { open } from 'aether-dsm'
import { openStructures, type SharedMap } from 'aether-dsm/structures'
import { connectRedis, type RedisClient } from '../bench/peers/redis-package.ts'
import { type CounterReply, type CounterTask, countsName, noteIndex, pageCount } from './counter-messages.ts'

let counts = new Int32Array(0)
let map: SharedMap<number>
let redis: RedisClient | undefined
let place = 0
let answered: (counts: readonly number[]) => void = () => {}
let random = 0

/** Shared memory: one visit after the other. */
const inMemory: Readonly<Record<'array' | 'map', (page: number) => unknown>> = {
  array: (page) => Atomics.add(counts, page, 1) + 1,
  map: (page) => map.updateSync(`/page/${page}`, (count) => (count ?? 0) + 1),
}

/** Others keep the counts: the visits of a batch are under way together. */
const elsewhere: Readonly<Record<'messages' | 'redis', (pages: readonly number[]) => Promise<unknown>>> = {
  async messages(pages) {
    const answer = new Promise((resolve) => {
      answered = resolve
    })
    await send({ kind: 'visits', pages })
    await answer
  },

  // The client sends the commands of one turn of the event loop together.
  redis: (pages) => Promise.all(pages.map((page) => redis!.hIncrBy(countsName, `/page/${page}`, 1))),
}

const tasks: {
  readonly [K in CounterTask['kind']]: (task: Extract<CounterTask, { kind: K }>) => Promise<void> | void
} = {
  async open({ space: name, index, redis: directory }) {
    const space = await open(name)
    const region = await space.openRegion(countsName)
    counts = region.view(Int32Array)
    map = await (await openStructures(space)).map<number>(countsName)
    place = noteIndex(index)
    random = index
    if (directory !== undefined) redis = await connectRedis(directory)
  },

  async count({ way, visits, batch }) {
    if (way === 'array' || way === 'map') {
      const count = inMemory[way]
      for (let visit = 0; visit < visits; visit += 1) count(nextPage())
      return
    }
    const count = elsewhere[way]
    for (let visit = 0; visit < visits; visit += batch) await count(Array.from({ length: batch }, nextPage))
  },

  /** Death between the two lines leaves the counts one ahead of the notes, never behind. */
  countAndNote({ visits }) {
    for (let visit = 1; visit <= visits; visit += 1) {
      Atomics.add(counts, nextPage(), 1)
      Atomics.store(counts, place, visit)
    }
  },

  answer({ counts: newCounts }) {
    answered(newCounts)
  },
}

/** Any page; the numbers are the same in each run. */
function nextPage(): number {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0
  return (random >>> 8) % pageCount
}

function send(reply: CounterReply): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(reply, undefined, undefined, (error) => (error === null ? resolve() : reject(error)))
  })
}

async function perform(task: CounterTask): Promise<void> {
  try {
    await (tasks[task.kind] as (task: CounterTask) => Promise<void> | void)(task)
    if (task.kind !== 'answer') await send({ kind: 'done' })
  } catch (error) {
    await send({ kind: 'failed', message: (error as Error).message })
  }
}

process.on('message', (task: CounterTask) => void perform(task))
process.on('disconnect', () => process.exit())

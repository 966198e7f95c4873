import { bytes } from '../../codecs/index.ts'
import type { Heap } from '../heap/heap.ts'
import { JobPhase, JobRecord } from '../jobs/job-record.ts'
import { JOBS_BODY_BYTES, JobsOffset } from '../jobs/layout.ts'
import { SharedMap } from '../map/shared-map.ts'
import type { SavedBody, SavedClock, SavedKind } from './saved-kind.ts'
import { entryOf, savedMap } from './saved-map.ts'

/** First byte of a record: a job, a schedule, or the words of the queue. */
const Part = { Job: 0, Schedule: 1, Words: 2 } as const

/**
 * Jobs and schedules are records of their maps (saved-map.ts). Jobs that a worker holds are saved as if it had given
 * them back. Times at which jobs are due are of the wall clock.
 */
export const savedJobs: SavedKind = {
  bodyBytes: () => JOBS_BODY_BYTES,

  *dump(body) {
    const { heap, offset, clock } = body
    for (const record of savedMap.dump({ ...body, offset: offset + JobsOffset.Schedules }))
      yield record && tagged(Part.Schedule, record)
    for (const record of savedMap.dump({ ...body, offset: offset + JobsOffset.Jobs }))
      yield record &&
        tagged(
          Part.Job,
          withJob(record, body, (job) => leave(job, clock)),
        )
    // Last, so that the number covers jobs that were added meanwhile.
    yield wordsOf(heap, offset)
  },

  restore(body) {
    const { heap, name, offset, clock } = body
    const plain = { codec: bytes, valueBytesMax: Number.POSITIVE_INFINITY, ttlMs: 0, maxEntries: 0 }
    const jobs = new SharedMap(name, heap, offset + JobsOffset.Jobs, plain)
    const putSchedule = savedMap.restore({ ...body, offset: offset + JobsOffset.Schedules, parameters: [] })
    return (record) => {
      const part = record[0]
      const rest = record.slice(1)
      if (part === Part.Words) return putWords(heap, offset, rest)
      if (part === Part.Schedule) return putSchedule(rest)
      const { key, ttlMs, value } = entryOf(
        withJob(rest, body, (job) => takeUp(job, clock)),
        body,
      )
      if (ttlMs === undefined) return
      // An import must not replace another job that happens to have the same id.
      for (let id = key; !jobs.setIfAbsentSync(id, value, { ttlMs }); ) id = nextId(heap, offset)
      heap.memory.store(offset + JobsOffset.Incomplete, 1)
    }
  },
}

/** The record of an entry, whose value was changed in place. */
function withJob(record: Uint8Array, body: SavedBody, change: (job: JobRecord) => void): Uint8Array {
  change(new JobRecord(entryOf(record, body).value))
  return record
}

function leave(job: JobRecord, clock: SavedClock): void {
  if (job.phase === JobPhase.Active) job.release(0)
  else if (job.phase === JobPhase.Pending && job.dueMs !== 0) job.release(clock.toWall(job.dueMs))
}

function takeUp(job: JobRecord, clock: SavedClock): void {
  if (job.phase === JobPhase.Pending && job.dueMs !== 0) job.release(clock.toHeap(job.dueMs))
}

function tagged(part: number, record: Uint8Array): Uint8Array {
  const whole = new Uint8Array(1 + record.length)
  whole[0] = part
  whole.set(record, 1)
  return whole
}

function wordsOf(heap: Heap, offset: number): Uint8Array {
  const words = Buffer.alloc(9)
  words.writeBigInt64LE(heap.memory.load64(offset + JobsOffset.LastId), 0)
  words[8] = heap.memory.load(offset + JobsOffset.Paused)
  return tagged(Part.Words, words)
}

function putWords(heap: Heap, offset: number, words: Uint8Array): void {
  const { memory } = heap
  const at = offset + JobsOffset.LastId
  const wanted = Buffer.from(words).readBigInt64LE(0)
  for (let seen = memory.load64(at); seen < wanted; seen = memory.load64(at)) memory.compareExchange64(at, seen, wanted)
  if (words[8] === 1) memory.store(offset + JobsOffset.Paused, 1)
}

function nextId(heap: Heap, offset: number): string {
  return String(heap.memory.fetchAdd64(offset + JobsOffset.LastId, 1n) + 1n)
}

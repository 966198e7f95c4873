import { structured } from '../../codecs/index.ts'
import { PARTICIPANTS_MAX } from '../heap/layout.ts'
import { ID_LIST_BYTES } from '../jobs/id-list.ts'
import { JOB_HEAD_BYTES, JobPhase, JobRecord } from '../jobs/job-record.ts'
import { JOB_ID_BYTES_MAX, JobsOffset, WORKER_BYTES } from '../jobs/layout.ts'
import { READY_LISTS, RETURNED_LEVEL } from '../jobs/ready-lists.ts'
import { firesAt, WHEEL_SLOTS } from '../jobs/timer-wheel.ts'
import { WorkerOffset } from '../jobs/workers.ts'
import { NodeOffset } from '../list/node.ts'
import { ownerSlot } from '../peers.ts'
import { checkQueueChain } from './check-list.ts'
import { type CheckedEntry, checkMap } from './check-map.ts'
import { checkValue } from './check-value.ts'
import type { CheckedStructure } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'
import type { Unfinished } from './unfinished.ts'

/** Where the ids of a list are. */
interface Lists {
  /** By id, the levels of the ready lists that have it. */
  readonly ready: ReadonlyMap<string, ReadonlySet<number>>
  /** By id, when the first slot of the wheel that has it is dealt with. */
  readonly wheel: ReadonlyMap<string, number>
}

/**
 * Each job is in one state. One that can be taken is in a list. That is the ready list of its priority, the one of
 * returned jobs, or a slot of the wheel that is dealt with in time. One that is held has a holder. A list may have
 * more, which does no harm. Returns the number of jobs.
 *
 * @throws Damage
 */
export function checkJobs(structure: CheckedStructure, unfinished: Unfinished): number {
  const { heap, body, parameters } = structure
  const { sight } = heap
  must(sight.long(body + JobsOffset.LastId) >= 0n, 'it has given out an id below 1')
  for (const word of [JobsOffset.Paused, JobsOffset.Incomplete])
    must((sight.word(body + word) & ~1) === 0, 'its words are not those of a job queue')
  const [begun, finished] = [sight.long(body + JobsOffset.Begun), sight.long(body + JobsOffset.Finished)]
  must(finished >= 0n && finished <= begun, 'its timer wheel has gone further than it was turned')
  const notes = notesOf(structure)
  const lists = { ready: readyOf(structure), wheel: wheelOf(structure, Number(finished)) }
  const mayLack = sight.word(body + JobsOffset.Incomplete) === 1
  const jobs = checkMap({ ...structure, body: body + JobsOffset.Jobs }, unfinished, (entry) => {
    const id = String(entry.key.value())
    const record = jobOf(structure, id, entry)
    checkData(structure, id, entry, record, parameters[0])
    if (record.phase === JobPhase.Active) checkHolder(structure, id, record)
    else must(record.owner === 0, `job ${id} is not held, and has a holder`)
    const isPending = record.phase === JobPhase.Pending
    if (isPending && !mayLack && !notes.has(id))
      must(isListed(lists, id, record), `job ${id} waits, and is in no list that fits it`)
  })
  checkMap({ ...structure, body: body + JobsOffset.Schedules }, unfinished, (entry) => checkSchedule(structure, entry))
  return jobs
}

function isListed({ ready, wheel }: Lists, id: string, { level, dueMs }: JobRecord): boolean {
  const levels = ready.get(id)
  if (levels?.has(level) === true || levels?.has(RETURNED_LEVEL) === true) return true
  return (wheel.get(id) ?? Number.POSITIVE_INFINITY) <= Math.ceil(dueMs)
}

function readyOf(structure: CheckedStructure): Lists['ready'] {
  const { heap, body } = structure
  const used = heap.sight.word(body + JobsOffset.ReadyUsed)
  must(used >>> READY_LISTS === 0, 'it uses ready lists that there are not')
  const found = new Map<string, Set<number>>()
  for (let level = 0; level < READY_LISTS; level += 1) {
    let isEmpty = true
    eachId(structure, body + JobsOffset.Ready + level * ID_LIST_BYTES, (id) => {
      isEmpty = false
      found.set(id, (found.get(id) ?? new Set()).add(level))
    })
    must(isEmpty || (used & (1 << level)) !== 0, 'a ready list has jobs, and is said to be unused')
  }
  return found
}

function wheelOf(structure: CheckedStructure, finished: number): Lists['wheel'] {
  const found = new Map<string, number>()
  for (let slot = 0; slot < WHEEL_SLOTS; slot += 1)
    eachId(structure, structure.body + JobsOffset.Wheel + slot * ID_LIST_BYTES, (id) => {
      found.set(id, Math.min(found.get(id) ?? Number.POSITIVE_INFINITY, firesAt(slot, finished)))
    })
  return found
}

function eachId(structure: CheckedStructure, body: number, visit: (id: string) => void): void {
  const { sight } = structure.heap
  checkQueueChain({ ...structure, body }, ({ offset }, before) => {
    if (before === undefined) return
    const length = sight.word(offset + NodeOffset.Length)
    must(length >= 1 && length <= JOB_ID_BYTES_MAX, 'a list has an id that is too long')
    visit(Buffer.from(sight.copy(offset + NodeOffset.Value, length)).toString())
  })
}

/** Ids of jobs that a killed member was about to put into a list. */
function notesOf({ heap, body }: CheckedStructure): ReadonlySet<string> {
  const { sight } = heap
  const notes = new Set<string>()
  for (let slot = 0; slot < PARTICIPANTS_MAX; slot += 1) {
    const at = body + JobsOffset.Workers + slot * WORKER_BYTES
    const owner = sight.word(at + WorkerOffset.Owner)
    must(heap.isOwnerOrNone(owner), 'a worker of it is not a member that the space has had')
    must(sight.long(at + WorkerOffset.LeaseEnd) >= 0n, 'the lease of a worker ends at no time that there is')
    const length = sight.word(at + WorkerOffset.NoteLength)
    must(length >= 0 && length <= JOB_ID_BYTES_MAX, 'what a worker has noted is too long')
    if (length > 0) notes.add(Buffer.from(sight.copy(at + WorkerOffset.Note, length)).toString())
  }
  return notes
}

function jobOf({ heap }: CheckedStructure, id: string, { valueOffset, valueLength }: CheckedEntry): JobRecord {
  must(valueLength >= JOB_HEAD_BYTES, `job ${id} is shorter than a job`)
  const record = new JobRecord(new Uint8Array(heap.sight.copy(valueOffset, valueLength)))
  const { phase, level } = record
  must(phase <= JobPhase.Failed && level < READY_LISTS, `job ${id} is in a state that there is not`)
  must(record.endBytes === valueLength, `the parts of job ${id} are not as long as it is`)
  const times = [record.dueMs, record.addedAtMs, record.startedAtMs, record.endedAtMs]
  must(
    times.every((time) => time >= 0 && Number.isFinite(time)),
    `job ${id} has a time that there is not`,
  )
  must(record.keepCompletedMs >= 0 && record.keepFailedMs >= 0, `job ${id} has a time that there is not`)
  const hasEnded = phase === JobPhase.Completed || phase === JobPhase.Failed
  must(!hasEnded || record.endedAtMs > 0, `job ${id} has ended at no time`)
  return record
}

/** Data as its codec has it; results, errors and progress as structured values. */
function checkData(
  structure: CheckedStructure,
  id: string,
  { valueOffset }: CheckedEntry,
  record: JobRecord,
  codec: number | undefined,
): void {
  const at = valueOffset + JOB_HEAD_BYTES + record.schedule.length
  checkValue(structure.heap, at, record.data.length, codec, `the data of job ${id}`)
  for (const [what, bytes] of Object.entries({ outcome: record.outcome, progress: record.progress })) {
    if (bytes.length === 0) continue
    must(isDecodable(bytes), `the ${what} of job ${id} cannot be decoded`)
  }
}

function checkHolder({ heap, body }: CheckedStructure, id: string, { hold }: JobRecord): void {
  must(heap.isOwner(hold.owner) && hold.attempt >= 1, `job ${id} is held by who is not a member that the space has had`)
  const at = body + JobsOffset.Workers + ownerSlot(hold.owner) * WORKER_BYTES
  must(heap.sight.word(at + WorkerOffset.Owner) === hold.owner, `job ${id} is held by a member that holds no jobs`)
}

function checkSchedule({ heap }: CheckedStructure, { key, valueOffset, valueLength }: CheckedEntry): void {
  const bytes = heap.memory.copy(valueOffset, valueLength)
  must(isDecodable(bytes), `schedule ${key.value()} cannot be decoded`)
  const { nextAtMs } = (structured.decode(bytes) ?? {}) as { readonly nextAtMs?: number }
  must(isWhole(Math.floor(nextAtMs ?? -1), 0, Number.MAX_SAFE_INTEGER), `schedule ${key.value()} has no next time`)
}

function isDecodable(bytes: Uint8Array): boolean {
  try {
    structured.decode(bytes)
    return true
  } catch {
    return false
  }
}

import { JOB_HEAD_BYTES, JobRecord } from '../jobs/job-record.ts'
import { JOB_STATES, stateOf } from '../jobs/job-snapshot.ts'
import { JobsOffset } from '../jobs/layout.ts'
import type { StructureContents, StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { HeapSight } from './heap-sight.ts'
import { mapContents, mapSight, sampleValues } from './map-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { codecName } from './value-text.ts'

/** Slots of the map of jobs that are looked at for their states. */
const SLOTS_MAX = 8192

/**
 * Jobs of all states, their bytes, and how many are in each state. What the lists of their ids take is left out. Of
 * many jobs a sample is counted: their ids are spread over the slots by their hash.
 */
export function jobsSight(heap: HeapSight, structure: NamedStructure): StructureFigures {
  const jobs = { ...structure, body: structure.body + JobsOffset.Jobs }
  const figures = mapSight(heap, jobs)
  const isPaused = heap.word(structure.body + JobsOffset.Paused) !== 0
  const now = [...(isPaused ? ['paused'] : []), ...statesOf(heap, jobs)].join(', ')
  return { ...figures, ...(now !== '' && { now }) }
}

/** `3 waiting`, …; with `~` before estimates. States without a job are left out. */
function statesOf(heap: HeapSight, jobs: NamedStructure): readonly string[] {
  const now = heap.nowMs()
  const counts = new Map<string, number>()
  const factor = sampleValues(
    heap,
    jobs,
    SLOTS_MAX,
    (lengthBytes, copy) =>
      lengthBytes < JOB_HEAD_BYTES ? '' : stateOf(new JobRecord(new Uint8Array(copy(JOB_HEAD_BYTES))), now),
    (state) => counts.set(state, (counts.get(state) ?? 0) + 1),
  )
  const about = factor === 1 ? '' : '~'
  return JOB_STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0
    return count === 0 ? [] : [`${about}${Math.round(count * factor)} ${state}`]
  })
}

/** Ids, each with the state of its job. */
export function jobsContents(heap: HeapSight, { body }: NamedStructure, most: number): StructureContents {
  const now = heap.nowMs()
  const words = (lengthBytes: number, copy: (lengthBytesMax: number) => Uint8Array): string => {
    if (lengthBytes < JOB_HEAD_BYTES) return 'changing'
    const record = new JobRecord(new Uint8Array(copy(JOB_HEAD_BYTES)))
    const { attempt } = record.hold
    return `${stateOf(record, now)}${attempt === 0 ? '' : `, attempt ${attempt}`}, ${lengthBytes} bytes`
  }
  return { ...mapContents(heap, { body: body + JobsOffset.Jobs }, most, words), title: 'jobs' }
}

export function jobsOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  return [['codec', codecName(parameters[0])]]
}

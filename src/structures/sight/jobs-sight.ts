import { JOB_HEAD_BYTES, JobRecord } from '../jobs/job-record.ts'
import { stateOf } from '../jobs/job-snapshot.ts'
import { JobsOffset } from '../jobs/layout.ts'
import type { StructureContents, StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { HeapSight } from './heap-sight.ts'
import { mapContents, mapSight } from './map-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { codecName } from './value-text.ts'

/** Jobs of all states, and their bytes; what the lists of their ids take is left out. */
export function jobsSight(heap: HeapSight, { body, block }: NamedStructure): StructureFigures {
  const isPaused = heap.word(body + JobsOffset.Paused) !== 0
  return { ...mapSight(heap, { body: body + JobsOffset.Jobs, block }), ...(isPaused && { now: 'paused' }) }
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

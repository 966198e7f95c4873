import { Meters } from '../../../src/structures/figures/meter.ts'
import { JobCore, type TakenJob } from '../../../src/structures/jobs/job-core.ts'
import { JobRecord, type JobTerms } from '../../../src/structures/jobs/job-record.ts'
import { JOBS_BODY_BYTES } from '../../../src/structures/jobs/layout.ts'
import { levelOf } from '../../../src/structures/jobs/ready-lists.ts'
import { type Inhabitant, Town } from '../town.ts'

export const LEASE_MS = 1000
const terms: JobTerms = {
  level: levelOf(0),
  attemptsMax: 3,
  lossesMax: 100,
  backoffMs: 0,
  backoffMsMax: 1e6,
  isExponential: false,
  keepCompletedMs: 0,
  keepFailedMs: Number.POSITIVE_INFINITY,
}
const DATA = new Uint8Array([1, 2, 3])

/** A member of a queue in a {@link Town}, whose clock a test sets. */
export interface JobMember {
  readonly inhabitant: Inhabitant
  readonly core: JobCore
}

/** A job queue whose members live in one process, by a clock that stands still. */
export class JobTown {
  readonly town: Town
  nowMs = 5_000_000.5

  constructor(lengthBytes?: number) {
    this.town = new Town(lengthBytes)
  }

  /** `lateMs`: how far its clock is behind. */
  settle(lateMs: number = 0): JobMember {
    const inhabitant = this.town.settle()
    return { inhabitant, core: this.#open(inhabitant, lateMs) }
  }

  #open(inhabitant: Inhabitant, lateMs: number): JobCore {
    const { heap, directory } = inhabitant
    const request = { kind: 'jobs', name: 'jobs', bodyBytes: JOBS_BODY_BYTES, parameters: [] } as const
    const settings = { meter: new Meters().of('jobs', 'jobs'), leaseMs: LEASE_MS, now: () => this.nowMs - lateMs }
    return new JobCore('jobs', heap, directory.open(request).offset, settings)
  }
}

export function jobOf(dueMs: number = 0, changed: Partial<JobTerms> = {}): JobRecord {
  return JobRecord.of({ ...terms, ...changed }, DATA, dueMs)
}

/** Take a job and keep it. */
export function takeOf({ core }: JobMember): TakenJob | undefined {
  const taken = core.take(true)
  if (taken !== undefined) core.keep(taken, () => {})
  return taken
}

/** Take and complete all that can be taken; their ids in that order. */
export function finishAll(member: JobMember): string[] {
  const ids: string[] = []
  for (let taken = takeOf(member); taken !== undefined; taken = takeOf(member)) {
    ids.push(taken.id)
    member.core.complete(taken.id, 0, () => DATA)
  }
  return ids
}

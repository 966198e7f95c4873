import { isWhole, must, ownerEpoch, ownerSlot, StoreHead } from '../../../structures/index.ts'
import {
  CHILDREN_BYTES,
  ChildTable,
  DEDUPLICATION_BYTES,
  EventOffset,
  JOB_BYTES,
  JobNumber,
  JobOffset,
  JobText,
  jobTexts,
  METRICS_BYTES,
  QueueOffset,
  states,
  VALUE_BYTES,
} from '../queue/layout.ts'
import { MetricsOffset } from '../queue/metrics.ts'
import { TABLE_BYTES } from '../store/tables.ts'
import { checkSet } from './check-set.ts'
import { checkTable } from './check-table.ts'
import type { CheckedBlocks } from './checked-blocks.ts'

/** Texts of jobs that are JSON, whatever a program adds. */
const jsonTexts: ReadonlySet<number> = new Set([JobText.opts, JobText.parent])
const marks = [JobOffset.Exists, JobOffset.Stalled, JobOffset.AttachmentFailed]
const wholes = [QueueOffset.Id, QueueOffset.Priorities, QueueOffset.LimiterCount] as const

/** The queue whose record is at `at`. `lastEpoch`: of the member that joined last. Returns its jobs. @throws Damage */
export function checkQueue(blocks: CheckedBlocks, at: number, lastEpoch: number): number {
  const check = new QueueCheck(blocks, lastEpoch)
  check.queue(at)
  return check.jobs
}

class QueueCheck {
  jobs: number = 0
  readonly #blocks: CheckedBlocks
  readonly #lastEpoch: number
  /** By state, how many jobs say that they are in it. */
  readonly #inState: number[] = states.map(() => 0)
  readonly #keys = new Map<number, string>()

  constructor(blocks: CheckedBlocks, lastEpoch: number) {
    this.#blocks = blocks
    this.#lastEpoch = lastEpoch
  }

  queue(at: number): void {
    for (const place of wholes) must(isWhole(this.#number(at + place), 0, Number.MAX_SAFE_INTEGER), 'it counts wrongly')
    must(this.#word(at + QueueOffset.Flags) >>> 3 === 0, 'it has marks that there are not')
    checkTable(this.#blocks, at + QueueOffset.Jobs, JOB_BYTES, (job, id) => this.#job(job, id))
    for (const [state, name] of states.entries()) {
      const node = JobOffset.Nodes + state * 4
      const count = checkSet(this.#blocks, at + QueueOffset.Sets + state * 4, {
        isOwn: (job, own) => this.#keys.has(job) && this.#word(job + node) === own,
        key: (job) => this.#keys.get(job)!,
      })
      must(count === this.#inState[state], `jobs that say that they are in state ${name} are not`)
    }
    for (const table of [QueueOffset.Meta, QueueOffset.Next]) this.#values(at + table)
    checkTable(this.#blocks, at + QueueOffset.Deduplication, DEDUPLICATION_BYTES, (entry) => {
      must(this.#number(entry + 8) >= 0, 'a deduplication key ends at no time')
      this.#blocks.text(entry)
    })
    for (const metrics of [0, METRICS_BYTES]) this.#json(at + QueueOffset.Metrics + metrics + MetricsOffset.Points)
    this.#events(at)
  }

  #job(job: number, id: string): void {
    this.#keys.set(job, id)
    for (const mark of marks) must(this.#word(job + mark) >>> 1 === 0, `job ${id} has a mark that there is not`)
    for (const number of Object.values(JobNumber))
      must(!Number.isNaN(this.#number(job + number)), `what should be a number in job ${id} is not one`)
    for (const text of jobTexts)
      if (jsonTexts.has(text)) this.#json(job + text)
      else this.#blocks.text(job + text)
    this.#json(job + JobOffset.Scheduler)
    const token = this.#blocks.text(job + JobOffset.LockToken)
    must(token === undefined || this.#isOwner(this.#word(job + JobOffset.LockOwner)), `job ${id} is held by no member`)
    for (const state of states.keys())
      if (this.#word(job + JobOffset.Nodes + state * 4) !== 0) this.#inState[state]! += 1
    const children = this.#word(job + JobOffset.Children)
    if (children !== 0) {
      this.#blocks.claim(children, CHILDREN_BYTES, 'the children of a job')
      for (const table of Object.values(ChildTable)) this.#values(children + table)
    }
    const logs = this.#word(job + JobOffset.Logs)
    if (logs !== 0) {
      this.#blocks.claim(logs, TABLE_BYTES, 'the log of a job')
      this.#values(logs)
    }
    if (this.#word(job + JobOffset.Exists) === 1) this.jobs += 1
  }

  /** Members of a life before a restore are not known (../queue/restored.ts). */
  #isOwner(owner: number): boolean {
    const isRestored = this.#word(StoreHead.Restored) !== 0
    return isRestored || owner === 0 || (ownerSlot(owner) >= 0 && isWhole(ownerEpoch(owner), 1, this.#lastEpoch))
  }

  /** A table of texts. */
  #values(table: number): void {
    checkTable(this.#blocks, table, VALUE_BYTES, (entry) => this.#blocks.text(entry))
  }

  #events(at: number): void {
    let [previous, count, ms, sequence] = [0, 0, 0, 0]
    for (let event = this.#word(at + QueueOffset.EventFirst); event !== 0; count += 1) {
      const room = this.#blocks.claim(event, EventOffset.Text, 'an event')
      const length = this.#word(event + EventOffset.Length)
      const isSound = length >= 0 && EventOffset.Text + length <= room
      must(isSound && this.#word(event + EventOffset.Previous) === previous, 'an event does not follow the one before')
      checkJson(this.#blocks.memory.bytes.toString('utf8', event + EventOffset.Text, event + EventOffset.Text + length))
      const [lastMs, last] = [ms, sequence]
      ms = this.#number(event + EventOffset.Ms)
      sequence = this.#number(event + EventOffset.Sequence)
      must(count === 0 || ms > lastMs || (ms === lastMs && sequence > last), 'events are not in order')
      previous = event
      event = this.#word(event + EventOffset.Next)
    }
    const isLast =
      ms === this.#number(at + QueueOffset.EventMs) && sequence === this.#number(at + QueueOffset.EventSequence)
    const isEnd = this.#word(at + QueueOffset.EventLast) === previous && (count === 0 || isLast)
    must(isEnd && this.#word(at + QueueOffset.EventCount) === count, 'it has not the events that it counts')
  }

  #json(place: number): void {
    const text = this.#blocks.text(place)
    if (text !== undefined) checkJson(text)
  }

  #word(at: number): number {
    return this.#blocks.memory.word(at)
  }

  #number(at: number): number {
    return this.#blocks.memory.float(at)
  }
}

/** @throws Damage */
function checkJson(text: string): void {
  try {
    JSON.parse(text)
  } catch {
    must(false, 'what should be JSON is not')
  }
}

import type { OrderedSets } from '../store/ordered-sets.ts'
import type { Store } from '../store/store.ts'
import { Deduplication } from './deduplication.ts'
import { JobChildren } from './job-children.ts'
import { JobEvents } from './job-events.ts'
import { JobLock } from './job-lock.ts'
import { JobLogs } from './job-logs.ts'
import {
  JOB_BYTES,
  JobNumber,
  type JobNumberName,
  JobOffset,
  JobText,
  type JobTextName,
  jobTexts,
  QueueOffset,
  State,
  type StateName,
  states,
} from './layout.ts'
import { Markers } from './markers.ts'
import { QueueFlags } from './queue-flags.ts'
import { QueueMeta } from './queue-meta.ts'
import { RateLimit } from './rate-limit.ts'

/** A job of any queue. */
export interface FoundJob {
  readonly queue: QueueState
  readonly id: string
  readonly job: number
}

/** The queues of one store, by which one finds jobs of others. */
export interface QueueDirectory {
  readonly store: Store
  readonly sets: OrderedSets
  /** The queue; made if it is new. */
  get(qualifiedName: string): QueueState
  /** The job with this key, `<qualified name>:<id>`. */
  locate(jobKey: string): FoundJob | undefined
}

/**
 * One queue in the store: its counters, the entries of its jobs, and the states they are in. An entry stays
 * while there is its job, its id in a state, or a job scheduler of that id; 0 is no entry.
 */
export class QueueState {
  readonly queues: QueueDirectory
  readonly name: string
  readonly store: Store
  readonly flags: QueueFlags
  readonly meta: QueueMeta
  readonly markers: Markers
  readonly events: JobEvents
  readonly limit: RateLimit
  readonly locks: JobLock
  readonly logs: JobLogs
  readonly children: JobChildren
  readonly deduplication: Deduplication
  /** Where its record begins. */
  readonly at: number
  readonly #sets: OrderedSets
  /** Entries that may be no longer needed. */
  readonly #doubtful = new Set<number>()

  constructor(queues: QueueDirectory, name: string, at: number) {
    this.queues = queues
    this.name = name
    this.at = at
    this.store = queues.store
    this.#sets = queues.sets
    this.flags = new QueueFlags(this.store, at)
    this.meta = new QueueMeta(this.store, at)
    this.markers = new Markers(this)
    this.events = new JobEvents(this)
    this.limit = new RateLimit(this.store, at, this.flags)
    this.locks = new JobLock(this.store)
    this.logs = new JobLogs(this.store)
    this.children = new JobChildren(this.store)
    this.deduplication = new Deduplication(this.store, at)
  }

  /** The key by which other queues know a job. */
  keyOf(id: string): string {
    return `${this.name}:${id}`
  }

  nextId(): number {
    const id = this.store.memory.float(this.at + QueueOffset.Id) + 1
    this.store.memory.setFloat(this.at + QueueOffset.Id, id)
    return id
  }

  // Entries

  find(id: string): number {
    return this.store.tables.find(this.at + QueueOffset.Jobs, id, JOB_BYTES)
  }

  /** The entry of this id, made if it is new. */
  entry(id: string): number {
    return this.find(id) || this.store.tables.add(this.at + QueueOffset.Jobs, id, JOB_BYTES)
  }

  idOf(job: number): string {
    return this.store.tables.key(job, JOB_BYTES)
  }

  /** Whether the entry is one of a job. */
  exists(job: number): boolean {
    return job !== 0 && this.store.memory.word(job + JobOffset.Exists) !== 0
  }

  begin(job: number): void {
    this.store.memory.setWord(job + JobOffset.Exists, 1)
  }

  *entries(): Generator<number, undefined> {
    const { tables } = this.store
    for (let job = tables.first(this.at + QueueOffset.Jobs); job !== 0; job = tables.next(job)) yield job
    return undefined
  }

  number(job: number, name: JobNumberName): number {
    return this.store.memory.float(job + JobNumber[name])
  }

  setNumber(job: number, name: JobNumberName, value: number): void {
    this.store.memory.setFloat(job + JobNumber[name], value)
  }

  /** Adds to the number, and returns the sum. */
  raise(job: number, name: JobNumberName): number {
    const sum = this.number(job, name) + 1
    this.setNumber(job, name, sum)
    return sum
  }

  text(job: number, name: JobTextName): string | undefined {
    return this.store.texts.at(job + JobText[name])
  }

  setText(job: number, name: JobTextName, value: string | undefined): void {
    this.store.texts.replace(job + JobText[name], value)
  }

  setAttachmentFailed(job: number, failed: boolean): void {
    this.store.memory.setWord(job + JobOffset.AttachmentFailed, failed ? 1 : 0)
  }

  /** Whether a child of its flow could not be attached; asked once. */
  takeAttachmentFailed(job: number): boolean {
    const failed = this.store.memory.word(job + JobOffset.AttachmentFailed) !== 0
    if (failed) this.setAttachmentFailed(job, false)
    return failed
  }

  /** The attributes of the job scheduler of this id, as JSON. */
  scheduler(entry: number): string | undefined {
    return entry === 0 ? undefined : this.store.texts.at(entry + JobOffset.Scheduler)
  }

  setScheduler(entry: number, attributes: string | undefined): void {
    this.store.texts.replace(entry + JobOffset.Scheduler, attributes)
    if (attributes === undefined) this.#doubtful.add(entry)
  }

  /** Remove the job's data, not its places in states. True if there was any. */
  erase(job: number): boolean {
    const { memory, texts } = this.store
    if (job === 0) return false
    const existed = this.exists(job) || this.children.any(job) || this.logs.count(job) > 0
    for (const place of jobTexts) if (memory.word(job + place) !== 0) texts.replace(job + place, undefined)
    for (const place of Object.values(JobNumber)) if (memory.float(job + place) !== 0) memory.setFloat(job + place, 0)
    this.children.clear(job)
    this.logs.clear(job)
    memory.setWord(job + JobOffset.AttachmentFailed, 0)
    memory.setWord(job + JobOffset.Exists, 0)
    this.#doubtful.add(job)
    return existed
  }

  /** At the end of a transaction: free entries that nothing needs. */
  settle(): void {
    if (this.#doubtful.size === 0) return
    for (const job of this.#doubtful) this.#dropUnused(job)
    this.#doubtful.clear()
  }

  #dropUnused(job: number): void {
    const { memory, tables } = this.store
    if (this.exists(job) || memory.word(job + JobOffset.Scheduler) !== 0) return
    for (let at = 0; at < states.length; at += 1) if (memory.word(job + JobOffset.Nodes + at * 4) !== 0) return
    this.locks.clear(job)
    tables.remove(this.at + QueueOffset.Jobs, job)
  }

  // States

  has(state: StateName, job: number): boolean {
    return job !== 0 && this.store.memory.word(job + JobOffset.Nodes + State[state] * 4) !== 0
  }

  stateOf(job: number): StateName | undefined {
    return states.find((state) => this.has(state, job))
  }

  count(state: StateName): number {
    return this.#sets.count(this.#setOf(state))
  }

  score(state: StateName, job: number): number {
    return this.#sets.score(this.store.memory.word(job + JobOffset.Nodes + State[state] * 4))
  }

  /** Put the job into the state, or change its score there. */
  insert(state: StateName, job: number, score: number): void {
    this.remove(state, job)
    const node = this.#sets.insert(this.#setOf(state), job, score)
    this.store.memory.setWord(job + JobOffset.Nodes + State[state] * 4, node)
  }

  /** False if it was not there. */
  remove(state: StateName, job: number): boolean {
    if (!this.has(state, job)) return false
    const place = job + JobOffset.Nodes + State[state] * 4
    this.#sets.remove(this.#setOf(state), this.store.memory.word(place))
    this.store.memory.setWord(place, 0)
    this.#doubtful.add(job)
    return true
  }

  /** At the end from which jobs are taken last. */
  pushLeft(state: StateName, job: number): void {
    const first = this.#sets.first(this.#setOf(state))
    this.insert(state, job, first === 0 ? 0 : this.#sets.score(first) - 1)
  }

  /** At the end from which the next job is taken. */
  pushRight(state: StateName, job: number): void {
    const last = this.#sets.last(this.#setOf(state))
    this.insert(state, job, last === 0 ? 0 : this.#sets.score(last) + 1)
  }

  /** The job with the lowest score; 0: there is none. */
  first(state: StateName): number {
    const node = this.#sets.first(this.#setOf(state))
    return node === 0 ? 0 : this.#sets.item(node)
  }

  /** The job with the highest score; 0: there is none. */
  last(state: StateName): number {
    const node = this.#sets.last(this.#setOf(state))
    return node === 0 ? 0 : this.#sets.item(node)
  }

  /** How many jobs have scores below this one. */
  countBelow(state: StateName, score: number): number {
    return this.#sets.countBelow(this.#setOf(state), score)
  }

  /** Jobs from place `start` to place `end`, by score; places below 0 count from the end, as in Redis. */
  range(state: StateName, start: number, end: number): number[] {
    const count = this.count(state)
    const from = Math.max(0, start < 0 ? start + count : start)
    const to = Math.min(count - 1, end < 0 ? end + count : end)
    const jobs: number[] = []
    if (from > to) return jobs
    let node = this.#sets.at(this.#setOf(state), from)
    for (let place = from; place <= to; place += 1) {
      jobs.push(this.#sets.item(node))
      node = this.#sets.next(node)
    }
    return jobs
  }

  /** The same from the highest score down. */
  reverseRange(state: StateName, start: number, end: number): number[] {
    const count = this.count(state)
    const first = start < 0 ? Math.max(0, start + count) : start
    const last = Math.min(count - 1, end < 0 ? end + count : end)
    if (first > last) return []
    return this.range(state, count - 1 - last, count - 1 - first).reverse()
  }

  /** Up to `limit` jobs whose scores are from `least` to `most`, the lowest first. */
  byScore(state: StateName, least: number, most: number, limit: number = Number.POSITIVE_INFINITY): number[] {
    const from = this.countBelow(state, least)
    const jobs: number[] = []
    let node = this.#sets.at(this.#setOf(state), from)
    while (node !== 0 && jobs.length < limit && this.#sets.score(node) <= most) {
      jobs.push(this.#sets.item(node))
      node = this.#sets.next(node)
    }
    return jobs
  }

  // What follows from several of them

  /** Whether no job may be taken: the queue is paused, or has as many active jobs as it may have. */
  get isPausedOrMaxed(): boolean {
    return this.meta.get('paused') !== undefined || this.isMaxed
  }

  get isMaxed(): boolean {
    const concurrency = this.meta.get('concurrency')
    return concurrency !== undefined && this.count('active') >= Number(concurrency)
  }

  /** The score of a prioritized job: its priority, then when it came. */
  priorityScore(priority: number): number {
    const counter = this.store.memory.float(this.at + QueueOffset.Priorities) + 1
    this.store.memory.setFloat(this.at + QueueOffset.Priorities, counter)
    return priority * 2 ** 32 + (counter % 2 ** 32)
  }

  resetPriorities(): void {
    if (this.store.memory.float(this.at + QueueOffset.Priorities) !== 0)
      this.store.memory.setFloat(this.at + QueueOffset.Priorities, 0)
  }

  #setOf(state: StateName): number {
    return this.at + QueueOffset.Sets + State[state] * 4
  }
}

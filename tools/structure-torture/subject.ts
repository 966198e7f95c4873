import type { Random } from 'aether-dsm/internal/runtime'
import {
  type Counter,
  type Flag,
  HeapFullError,
  type Leader,
  type ListOptions,
  type LogOptions,
  type MapOptions,
  type Mutex,
  type MvRluObject,
  type MvRluOptions,
  type Once,
  type RateLimiter,
  type RateLimiterOptions,
  type Semaphore,
  type Sequence,
  type SharedLog,
  type SharedMap,
  type ValueList,
} from 'aether-dsm/internal/structures'
import { Word } from './journal.ts'

/** What a structure has wherever it is: everything but what blocks the thread. */
type Promised<Structure> = {
  [Name in keyof Structure as Name extends `${string}Sync` ? never : Name]: Structure[Name]
}

type Awaitable<T> = T | Promise<T>

/** Grace periods, wherever that is. */
export interface AnyGracePeriods {
  getState(): unknown
  pollState(state: unknown): Awaitable<boolean>
  call(callback: () => void): void
}

/** A section of {@link AnyMvRlu}. */
export interface AnySection<V> {
  readonly clock: number
  readonly aborted: boolean
  dereference(object: MvRluObject): Awaitable<V | undefined>
  tryLock(object: MvRluObject): Awaitable<boolean>
  assign(object: MvRluObject, value: V): Awaitable<void>
  allocate(value: V): Awaitable<MvRluObject>
  free(object: MvRluObject): Awaitable<void>
  abort(): Awaitable<void>
}

/** Objects of MV-RLU, wherever that is. */
export interface AnyMvRlu<V> {
  readonly root: MvRluObject
  readLock(): Awaitable<AnySection<V>>
  update<T>(work: (section: AnySection<V>) => Promise<T>): Promise<T>
}

/** Structures that the processes of a machine have as well as the ranks of a group. */
export interface CommonStructures {
  readonly rcu: AnyGracePeriods
  counter(name: string): Promise<Promised<Counter>>
  sequence(name: string): Promise<Promised<Sequence>>
  flag(name: string): Promise<Promised<Flag>>
  once(name: string): Promise<Promised<Once>>
  mutex(name: string): Promise<Promised<Mutex>>
  semaphore(name: string, options: { readonly permits: number }): Promise<Promised<Semaphore>>
  rateLimiter(name: string, options: RateLimiterOptions): Promise<Promised<RateLimiter>>
  leader(name: string, options?: { readonly leaseMs?: number }): Promise<Promised<Leader>>
  map<V>(name: string, options?: Pick<MapOptions<V>, 'codec' | 'ttlMs' | 'maxEntries'>): Promise<Promised<SharedMap<V>>>
  queue<V>(name: string, options?: Pick<ListOptions<V>, 'codec' | 'capacity'>): Promise<Promised<ValueList<V>>>
  log<V>(
    name: string,
    options?: Pick<LogOptions<V>, 'codec' | 'capacity'>,
  ): Promise<Pick<Promised<SharedLog<V>>, 'append' | 'read' | 'tail' | 'bounds' | 'trim'>>
  stack<V>(name: string, options?: Pick<ListOptions<V>, 'codec' | 'capacity'>): Promise<Promised<ValueList<V>>>
  mvRlu<V>(name: string, options?: Pick<MvRluOptions<V>, 'codec'>): Promise<AnyMvRlu<V>>
}

/** A process that works on a structure until it is killed, or told to end. */
export interface Worker<Shared> {
  readonly shared: Shared
  /** Its place, which others had before it, and have after it. */
  readonly seat: number
  /** Which of all processes of the round it is. */
  readonly incarnation: number
  readonly random: Random
  /** Its words of the journal for this structure: see {@link Word}. */
  readonly words: Int32Array
  /** Words of the journal that all processes share for this structure. */
  readonly common: Int32Array
  /** Something was wrong. */
  wrong(text: string): void
  /** Have something given up when this process is told to end: the judge may come while it is still there. */
  atEnd(giveUp: () => Promise<void>): void
}

/** A process that has ended, as the judge sees it. */
export interface Ended {
  readonly incarnation: number
  readonly seat: number
  /** When it was killed, in milliseconds of the clock that all processes share; Infinity where it ended by itself. */
  readonly killedMs: number
  readonly words: Int32Array
}

/** What is judged when no process works any more. */
export interface Trial<Shared> {
  readonly shared: Shared
  readonly processes: readonly Ended[]
  readonly common: Int32Array
  wrong(text: string): void
}

/** A structure under torture: what a process does to it, and what must be true of it afterwards. */
export interface Subject<Shared> {
  readonly name: string
  /** Words of the journal that all processes share, in bytes. */
  readonly commonBytes: number
  /** Bytes that it has when it is empty once a process has died, and not before. Default 0. */
  readonly bytesAfterDeath?: number
  /** Whether it counts the ages of the versions that are seen: see {@link VersionAges}. */
  readonly hasAges?: boolean
  /** Called once, before any process works. */
  prepare?(shared: Shared, common: Int32Array): Promise<void>
  /** Gives what a process does over and over: one operation, or a few. */
  begin(worker: Worker<Shared>): Promise<() => Promise<void>>
  judge(trial: Trial<Shared>): Promise<void>
  /**
   * Bring it to contents that are the same whatever was done before, so that the memory that it takes can be compared.
   */
  empty(shared: Shared): Promise<void>
}

/**
 * Do an operation, with a note before it and after it: `acknowledge` is called with what it gave. Where memory runs
 * out, nothing has happened. `kind`, from 1 on: what is under way, for the judge.
 */
export async function operate<T>(
  words: Int32Array,
  kind: number,
  work: () => Promise<T>,
  acknowledge: (result: T) => void = () => {},
): Promise<T | undefined> {
  Atomics.store(words, Word.UnderWay, kind)
  try {
    const result = await work()
    acknowledge(result)
    Atomics.add(words, Word.Done, 1)
    return result
  } catch (error) {
    if (!(error instanceof HeapFullError)) throw error
    Atomics.add(words, Word.Refused, 1)
    return undefined
  } finally {
    Atomics.store(words, Word.UnderWay, 0)
  }
}

/** What `wait` gives, or undefined when it has waited for so long. */
export async function forAtMost<T>(
  milliseconds: number,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(milliseconds)
  try {
    return await wait(signal)
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined
    throw error
  }
}

/** Sum of a word over processes. */
export function sumOf(processes: readonly Pick<Ended, 'words'>[], word: number): number {
  return processes.reduce((sum, { words }) => sum + words[word]!, 0)
}

/** How many were killed while something of one of these kinds was under way; without kinds, of any. */
export function underWay(processes: readonly Ended[], ...kinds: readonly number[]): number {
  return processes.filter(({ words }) => {
    const kind = words[Word.UnderWay]!
    return kinds.length === 0 ? kind !== 0 : kinds.includes(kind)
  }).length
}

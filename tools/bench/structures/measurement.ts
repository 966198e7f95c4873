import { AetherError } from 'aether-dsm/internal/native'
import type { BenchStore, StoreOperations } from './bench-store.ts'
import { type Job, keysOf, type Samples, type Work } from './job.ts'
import { type KeyChoice, keySequence, SEQUENCE_LENGTH, writeSequence } from './key-sequence.ts'
import { type Batch, measureTurns, warmUp } from './stopwatch.ts'

/** Values in the queue at a time, at most, in bytes. */
const QUEUED_BYTES_MAX = 2 ** 22
const QUEUED_MAX = 256

/** Key number `index`. */
export function keyName(index: number): string {
  return `key:${index}`
}

/** One job in one process: {@link prepare} first, and when all processes have, {@link run}. */
export class Measurement {
  readonly #turns: readonly { readonly op: string; readonly batch: Batch }[]
  readonly #waits: boolean
  readonly #job: Job
  #batchSize = 1

  constructor(store: BenchStore, job: Job, seed: number) {
    this.#job = job
    this.#waits = store.waits
    const operations = store.operations(new Uint8Array(job.bytes).fill(1 + (seed % 255)))
    const each = store.waits ? awaited : atOnce
    this.#turns = stepsOf(job, operations, seed).map(({ op, step }) => ({ op, batch: each(step) }))
  }

  async prepare(): Promise<void> {
    if (this.#job.work.kind === 'push, pop') {
      this.#batchSize = Math.max(1, Math.min(QUEUED_MAX, Math.floor(QUEUED_BYTES_MAX / this.#job.bytes)))
      await measureTurns(this.#turns, this.#batchSize, this.#job.timeMs)
    } else {
      this.#batchSize = await warmUp(this.#turns[0]!.batch, this.#waits, this.#job.timeMs)
    }
  }

  run(): Promise<Samples[]> {
    return measureTurns(this.#turns, this.#batchSize, this.#job.timeMs)
  }
}

export type Step = (index: number) => unknown

/** `index` grows with each step. Pushes and pops alternate, so that no process pops before another has pushed. */
function stepsOf(job: Job, operations: StoreOperations, seed: number): { readonly op: string; readonly step: Step }[] {
  const { work, bytes } = job
  if (work.kind === 'push, pop') {
    const { push, pop } = operations
    if (push === undefined || pop === undefined) throw lacking(work)
    return [
      { op: 'push', step: push },
      { op: 'pop', step: pop },
    ]
  }
  if (work.kind === 'add') {
    if (operations.add === undefined) throw lacking(work)
    return [{ op: 'add', step: operations.add }]
  }
  const keyAt = keysAt(work.keys, bytes, seed)
  if (work.kind === 'update') return [{ op: 'update', step: (index) => operations.update(keyAt(index)) }]
  return [{ op: opOf(work.writes), step: mixed(work.writes, operations, keyAt, seed) }]
}

function keysAt(choice: KeyChoice, bytes: number, seed: number): (index: number) => string {
  const names = Array.from({ length: keysOf(bytes) }, (_, key) => keyName(key))
  const sequence = keySequence(choice, names.length, seed)
  return (index) => names[sequence[index & (SEQUENCE_LENGTH - 1)]!]!
}

function mixed(writes: number, { get, set }: StoreOperations, keyAt: (index: number) => string, seed: number): Step {
  if (writes === 0) return (index) => get(keyAt(index))
  if (writes === 100) return (index) => set(keyAt(index))
  const isWrite = writeSequence(writes, seed)
  return (index) => (isWrite[index & (SEQUENCE_LENGTH - 1)] === 1 ? set(keyAt(index)) : get(keyAt(index)))
}

function opOf(writes: number): string {
  if (writes === 0) return 'get'
  return writes === 100 ? 'set' : `get, ${writes} % set`
}

/** What operations gave last, so that the engine has to do them. */
const kept: { last: unknown } = { last: undefined }

export function atOnce(step: Step): Batch {
  let index = 0
  return (count) => {
    for (let done = 0; done < count; done += 1) {
      kept.last = step(index)
      index += 1
    }
  }
}

export function awaited(step: Step): Batch {
  let index = 0
  return async (count) => {
    for (let done = 0; done < count; done += 1) {
      kept.last = await step(index)
      index += 1
    }
  }
}

function lacking({ kind }: Work): AetherError {
  return new AetherError('ERR_AETHER_BENCH', `a store without '${kind}' was asked for it`)
}

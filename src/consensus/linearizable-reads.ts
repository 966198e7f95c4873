import { TIMER_MS_MAX } from '../native/index.ts'
import { addAbortCallback, removeAbortCallback } from '../runtime/index.ts'
import type { ReplicaPort } from './agent/replica-process.ts'
import type { ReadIndex } from './read-index.ts'

/** A read that gets no answer is asked for again. */
const ASK_AGAIN_MS = 20

/** What a caller reads, and how it is told. */
interface ReadCall {
  readonly run: () => void
  readonly reject: (error: unknown) => void
  /** What it rejects with after `timeoutMs`. */
  readonly late: () => Error
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

interface Reading {
  readonly run: () => void
  readonly fail: (error: unknown) => void
  /** From which entry on; undefined until a leader has said so. */
  index: number | undefined
  /** When it was asked for. */
  askedMs: number
  isOver: boolean
}

/** Reads that wait: for a majority to say which entry they need, and then for this process to have applied that. */
export class LinearizableReads {
  readonly #readIndex: ReadIndex
  readonly #applied: () => number
  /** Reads for which no token is on its way. */
  #newReads: Reading[] = []
  readonly #asked = new Map<number, Reading[]>()
  #readable: Reading[] = []
  #token = 0
  #isAsking = false
  /** The state has all that was decided before this time. */
  #freshMs = Number.NEGATIVE_INFINITY

  /** `applied`: the last entry that the machine has applied. */
  constructor(readIndex: ReadIndex, applied: () => number) {
    this.#readIndex = readIndex
    this.#applied = applied
  }

  /** How old the state may be. */
  get staleMs(): number {
    return performance.now() - this.#freshMs
  }

  /** A majority has confirmed that nothing else was decided before this time, or an entry of then was applied. */
  knownFresh(atMs: number): void {
    this.#freshMs = Math.max(this.#freshMs, atMs)
  }

  /** `run` is called once the machine has all that anyone was answered before this call. */
  read(process: ReplicaPort, { run, reject, late, timeoutMs, signal }: ReadCall): void {
    const askedMs = performance.now()
    const index = this.#readIndex.confirm()
    if (index !== undefined && this.#applied() >= index) {
      this.knownFresh(askedMs)
      run()
      return
    }
    const end = (): void => {
      reading.isOver = true
      clearTimeout(timer)
      if (signal !== undefined) removeAbortCallback(signal, onAbort)
      process.unexpect()
    }
    const reading: Reading = {
      index,
      askedMs,
      isOver: false,
      run: () => {
        end()
        this.knownFresh(reading.askedMs)
        try {
          run()
        } catch (error) {
          reject(error)
        }
      },
      fail: (error) => {
        if (!reading.isOver) end()
        reject(error)
      },
    }
    const onAbort = (): void => reading.fail(signal!.reason)
    const timer = setTimeout(() => reading.fail(late()), Math.min(timeoutMs, TIMER_MS_MAX))
    if (signal !== undefined) addAbortCallback(signal, onAbort)
    process.expect()
    if (index !== undefined) {
      this.#readable.push(reading)
      return
    }
    this.#newReads.push(reading)
    this.#askSoon(process)
  }

  /** The question may be lost with a leader. */
  askAgain(process: ReplicaPort): void {
    for (const [token, reads] of this.#asked) {
      this.#asked.delete(token)
      this.#newReads.push(...reads)
    }
    if (this.#newReads.length > 0) this.#askSoon(process)
  }

  /** The answer to a question: an index, or -1 if it is to be asked again. */
  mayRead(process: ReplicaPort, token: number, index: number): void {
    const reads = this.#asked.get(token)
    if (reads === undefined) return
    this.#asked.delete(token)
    if (index < 0) {
      this.#retry(process, reads)
      return
    }
    for (const reading of reads) reading.index = index
    this.#readable.push(...reads)
    this.answer()
  }

  /** More was applied. */
  answer(): void {
    if (this.#readable.length === 0) return
    const index = this.#applied()
    const ready = this.#readable.filter((reading) => reading.index! <= index)
    if (ready.length === 0) return
    this.#readable = this.#readable.filter((reading) => reading.index! > index)
    for (const reading of ready) if (!reading.isOver) reading.run()
  }

  /** None of them gets an answer. */
  end(why: () => Error): void {
    for (const reads of [this.#newReads, this.#readable, ...this.#asked.values()])
      for (const reading of reads) if (!reading.isOver) reading.fail(why())
  }

  /** All reads of one turn share a question. */
  #askSoon(process: ReplicaPort): void {
    if (this.#isAsking) return
    this.#isAsking = true
    queueMicrotask(() => {
      this.#isAsking = false
      this.#ask(process)
    })
  }

  #ask(process: ReplicaPort): void {
    const reads = this.#newReads.filter(({ isOver }) => !isOver)
    this.#newReads = []
    if (reads.length === 0) return
    this.#token += 1
    const token = this.#token
    const askedMs = performance.now()
    for (const reading of reads) reading.askedMs = askedMs
    if (!process.askIndex(token)) {
      this.#retry(process, reads)
      return
    }
    this.#asked.set(token, reads)
    setTimeout(() => {
      if (this.#asked.delete(token)) this.#retry(process, reads)
    }, ASK_AGAIN_MS).unref()
  }

  #retry(process: ReplicaPort, reads: readonly Reading[]): void {
    this.#newReads.push(...reads)
    setTimeout(() => this.#askSoon(process), ASK_AGAIN_MS / 4).unref()
  }
}

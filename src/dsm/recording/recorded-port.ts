import type { CoherenceMessage, FrameReference, NodePort } from '../coherence/index.ts'
import { FNV_OFFSET, hashSaid, type Said } from './said.ts'

/** Passes everything on, and notes what was answered and said since the last {@link take}. */
export class RecordedPort implements NodePort {
  readonly #port: NodePort
  readonly #homeOf: (page: number) => number
  #answers: number[] = []
  #said = FNV_OFFSET

  constructor(port: NodePort, homeOf: (page: number) => number) {
    this.#port = port
    this.#homeOf = homeOf
  }

  /** Answers and hash since the last call. */
  take(): { answers: readonly number[]; said: number } {
    const taken = { answers: this.#answers, said: this.#said }
    this.#answers = []
    this.#said = FNV_OFFSET
    return taken
  }

  homeOf(page: number): number {
    const home = this.#homeOf(page)
    this.#answers.push(home)
    return home
  }

  mustHold(page: number): boolean {
    return this.#answered(this.#port.mustHold(page))
  }

  isAlive(rank: number): boolean {
    return this.#answered(this.#port.isAlive(rank))
  }

  ownFrame(page: number): FrameReference {
    return this.#port.ownFrame(page)
  }

  send(to: number, message: CoherenceMessage): void {
    this.#note({ do: 'send', to, message })
    this.#port.send(to, message)
  }

  push(page: number, to: number, frame: FrameReference): void {
    this.#note({ do: 'push', page, to })
    this.#port.push(page, to, frame)
  }

  mapReadOnly(page: number): void {
    this.#note({ do: 'mapReadOnly', page })
    this.#port.mapReadOnly(page)
  }

  mapWritable(page: number): void {
    this.#note({ do: 'mapWritable', page })
    this.#port.mapWritable(page)
  }

  protect(page: number): void {
    this.#note({ do: 'protect', page })
    this.#port.protect(page)
  }

  unmap(page: number): void {
    this.#note({ do: 'unmap', page })
    this.#port.unmap(page)
  }

  evicted(page: number): void {
    this.#note({ do: 'evicted', page })
    this.#port.evicted(page)
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#note({ do: 'failed', page, rank, wantsMemory })
    this.#port.failed(page, rank, wantsMemory)
  }

  #note(said: Said): void {
    this.#said = hashSaid(this.#said, said)
  }

  #answered(answer: boolean): boolean {
    this.#answers.push(answer ? 1 : 0)
    return answer
  }
}

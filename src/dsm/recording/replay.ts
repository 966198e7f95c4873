import { type CoherenceMessage, CoherenceNode, type NodePort, noFrame, protocols } from '../coherence/index.ts'
import { type Recording, RecordingError } from './recording.ts'
import { FNV_OFFSET, hashSaid, type Said } from './said.ts'
import {
  messageOf,
  pageOf,
  type RecordedArgument,
  type RecordedMessage,
  type RecordedStep,
  type StepCall,
} from './step.ts'

/** What one step of a replay did. */
export interface ReplayedStep {
  /** From 0. */
  readonly index: number
  readonly step: RecordedStep
  /** The page it was about; undefined where it was about all. */
  readonly page: number | undefined
  /** The cells of the tables that were taken, such as `cache S + Invalidate`. */
  readonly cells: readonly string[]
  readonly said: readonly Said[]
  /** State of the copy, and of the directory entry where this node is the home, after it. */
  readonly copy: string | undefined
  readonly directory: string | undefined
  /** The assertion that was violated, then as now. */
  readonly violation?: string
  /** How this run differs from the recorded one: another version of the code, or a defect of the recording. */
  readonly divergence?: string
}

/** Answers from the recording, in their order; notes what is said. */
class ReplayPort implements NodePort {
  #answers: readonly number[] = []
  #next = 0
  #said: Said[] = []

  begin(answers: readonly number[]): void {
    this.#answers = answers
    this.#next = 0
    this.#said = []
  }

  get said(): readonly Said[] {
    return this.#said
  }

  /** Answers given less those recorded. */
  get surplus(): number {
    return this.#next - this.#answers.length
  }

  answer(): number {
    return this.#answers[this.#next++] ?? 0
  }

  mustHold(): boolean {
    return this.answer() === 1
  }

  isAlive(): boolean {
    return this.answer() === 1
  }

  ownFrame(): typeof noFrame {
    return noFrame
  }

  send(to: number, message: CoherenceMessage): void {
    this.#said.push({ do: 'send', to, message })
  }

  push(page: number, to: number): void {
    this.#said.push({ do: 'push', page, to })
  }

  mapReadOnly(page: number): void {
    this.#said.push({ do: 'mapReadOnly', page })
  }

  mapWritable(page: number): void {
    this.#said.push({ do: 'mapWritable', page })
  }

  protect(page: number): void {
    this.#said.push({ do: 'protect', page })
  }

  unmap(page: number): void {
    this.#said.push({ do: 'unmap', page })
  }

  evicted(page: number): void {
    this.#said.push({ do: 'evicted', page })
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#said.push({ do: 'failed', page, rank, wantsMemory })
  }
}

/**
 * Runs a recording again, step by step, on the very node of the agent. The same file gives the same steps, wherever it
 * runs.
 */
export class Replay {
  readonly recording: Recording
  readonly #port = new ReplayPort()
  readonly #node: CoherenceNode
  #cells: string[] = []
  #index = 0

  /** @throws RecordingError where the recording names a protocol that is not here. */
  constructor(recording: Recording) {
    this.recording = recording
    const { path, header } = recording
    const protocol = protocols.get(header.protocol)
    if (protocol === undefined) throw new RecordingError(path, 1, `there is no protocol '${header.protocol}'`)
    this.#node = new CoherenceNode({
      rank: header.rank,
      ranks: header.ranks,
      protocol,
      homeOf: () => this.#port.answer(),
      port: this.#port,
      watch: (side, state, event) => this.#cells.push(`${side} ${state} + ${event}`),
    })
    this.#node.restore(header.state)
  }

  /** Index of the step that {@link next} takes. */
  get position(): number {
    return this.#index
  }

  /** Take one step; undefined after the last. */
  next(): ReplayedStep | undefined {
    const index = this.#index
    const step = this.recording.steps[index]
    if (step === undefined) return undefined
    this.#index += 1
    this.#cells = []
    this.#port.begin(step.answers)
    const error = this.#take(step)
    const page = pageOf(step)
    const { said } = this.#port
    const divergence = this.#divergence(step, error)
    const copy = page === undefined ? undefined : this.#node.copyState(page)
    const directory = page === undefined ? undefined : this.#node.directory(page).state
    return {
      index,
      step,
      page,
      cells: this.#cells,
      said,
      copy,
      directory,
      ...(error !== undefined && { violation: error }),
      ...(divergence !== undefined && { divergence }),
    }
  }

  /** Everything that the node remembers of a page, for people. */
  page(page: number): { copy: string; directory: ReturnType<CoherenceNode['directory']> } {
    return { copy: this.#node.copyState(page), directory: this.#node.directory(page) }
  }

  /** Pages of which anything is remembered. */
  pages(): number[] {
    return [...this.#node.pages()].sort((a, b) => a - b)
  }

  #take(step: RecordedStep): string | undefined {
    try {
      apply[step.call](this.#node, step.arguments)
      return undefined
    } catch (error) {
      return String(error)
    }
  }

  #divergence(step: RecordedStep, error: string | undefined): string | undefined {
    if (error !== step.error) return `it ended with ${step.error ?? 'no error'}, now with ${error ?? 'none'}`
    if (this.#port.surplus !== 0)
      return `${Math.abs(this.#port.surplus)} ${this.#port.surplus > 0 ? 'more' : 'fewer'} questions were asked of the world`
    const hash = this.#port.said.reduce(hashSaid, FNV_OFFSET)
    return hash === step.said ? undefined : 'what it says to the world is not what it said'
  }
}

const apply: Readonly<Record<StepCall, (node: CoherenceNode, args: readonly RecordedArgument[]) => unknown>> = {
  demand: (node, [page, write]) => node.demand(page as number, write as boolean),
  evict: (node, [page]) => node.evict(page as number),
  receive: (node, [message]) => node.receive(messageOf(message as RecordedMessage)),
  retry: (node, [page]) => node.retry(page as number),
  absorb: (node, [message]) => node.absorb(messageOf(message as RecordedMessage)),
  forget: (node) => node.forget(),
  install: (node, [page, as]) => node.install(page as number, as as Parameters<CoherenceNode['install']>[1]),
  installLost: (node, [page]) => node.installLost(page as number),
  installDirectory: (node, [page, owner, sharers]) =>
    node.installDirectory(page as number, owner as number, sharers as readonly number[]),
}

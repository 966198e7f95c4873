import type { Runtime } from '../../runtime/index.ts'
import { type CoherenceMessage, CoherenceNode, type NodeOptions } from '../coherence/index.ts'
import { RecordedPort } from './recorded-port.ts'
import type { Recorder } from './recorder.ts'
import { type RecordedArgument, recordedMessage, type StepCall } from './step.ts'

/**
 * A node that writes down what happens to it. Its behaviour follows from its inputs, in their order, and from the
 * answers to its questions. So a replay needs only these; the clock is written down for people.
 */
export class RecordedNode extends CoherenceNode {
  readonly #port: RecordedPort
  readonly #recorder: Recorder
  readonly #runtime: Runtime

  constructor(options: NodeOptions, recorder: Recorder, runtime: Runtime) {
    const port = new RecordedPort(options.port, options.homeOf)
    super({ ...options, port, homeOf: (page) => port.homeOf(page) })
    this.#port = port
    this.#recorder = recorder
    this.#runtime = runtime
    recorder.begin(this, runtime.now())
  }

  override demand(page: number, write: boolean): void {
    this.#record('demand', [page, write], () => super.demand(page, write))
  }

  override evict(page: number): boolean {
    return this.#record('evict', [page], () => super.evict(page))
  }

  override receive(message: CoherenceMessage): void {
    this.#record('receive', [recordedMessage(message)], () => super.receive(message))
  }

  override retry(page: number): void {
    this.#record('retry', [page], () => super.retry(page))
  }

  override absorb(message: CoherenceMessage): void {
    this.#record('absorb', [recordedMessage(message)], () => super.absorb(message))
  }

  override forget(): void {
    this.#record('forget', [], () => super.forget())
  }

  override install(page: number, as: Parameters<CoherenceNode['install']>[1]): void {
    this.#record('install', [page, as], () => super.install(page, as))
  }

  override installDirectory(page: number, owner: number, sharers: Iterable<number>): void {
    const ranks = [...sharers]
    this.#record('installDirectory', [page, owner, ranks], () => super.installDirectory(page, owner, ranks))
  }

  override installLost(page: number): void {
    this.#record('installLost', [page], () => super.installLost(page))
  }

  #record<T>(call: StepCall, args: readonly RecordedArgument[], work: () => T): T {
    this.#port.take() // what was asked between steps, to look at the node, belongs to none
    const nowNs = this.#runtime.now()
    try {
      const result = work()
      this.#recorder.step(nowNs, { call, arguments: args, ...this.#port.take() })
      return result
    } catch (error) {
      this.#recorder.step(nowNs, { call, arguments: args, ...this.#port.take(), error: String(error) })
      this.#recorder.flush()
      throw error
    }
  }
}

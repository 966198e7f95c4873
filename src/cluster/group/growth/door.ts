import process from 'node:process'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { native } from '../../../native/index.ts'
import type { DoorPlace } from './agent-door.ts'
import type { DoorOrder, DoorReport, DoorStart } from './door-worker.ts'

const CLOSE_MS_MAX = 2000

/** Where a member listens for others; the main thread's side. */
export class Door {
  readonly #worker: Worker
  readonly #bell: readonly [number, number]
  readonly #count = new SharedArrayBuffer(4)
  readonly #ended: Promise<void>
  /** Rejects if the thread fails: then this member is not met there any more. */
  readonly #failed: Promise<never>

  constructor(options: Omit<DoorStart, 'count' | 'bell'>) {
    this.#bell = native.createPipe()
    const workerData: DoorStart = { ...options, count: this.#count, bell: this.#bell[1] }
    this.#worker = new Worker(new URL('./door-worker.js', import.meta.url), {
      workerData,
      execArgv: [],
      name: 'aether-door',
    })
    this.#worker.unref()
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()))
    this.#failed = new Promise((_, reject) => this.#worker.once('error', reject))
    this.#failed.catch(() => {})
  }

  /** Listen at the first seed's address. Resolves with the reason why that is not possible. */
  begin(): Promise<string | undefined> {
    const answer = new Promise<string | undefined>((resolve) => {
      this.#worker.once('message', ({ trouble }: DoorReport) => resolve(trouble))
    })
    this.#order({ type: 'begin' })
    return Promise.race([answer, this.#failed])
  }

  /** There is a group. Returns where its agent is asked, with a port to be transferred to it. */
  place(): { readonly place: DoorPlace; readonly open: () => void } {
    const { port1, port2 } = new MessageChannel()
    const place = { port: port1, count: this.#count, bell: this.#bell[0] }
    const open = (): void => {
      this.#order({ type: 'open', port: port2 }, port2)
      this.#failed.catch((error: Error) =>
        process.emitWarning(`no process can join at this member: ${error.message}`, 'AetherWarning'),
      )
    }
    return { place, open }
  }

  /** After the agent has ended. */
  async close(): Promise<void> {
    this.#order({ type: 'close' })
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS_MAX)
    this.#worker.ref()
    await this.#ended
    clearTimeout(timer)
    for (const end of this.#bell) native.closeDescriptor(end)
  }

  #order(order: DoorOrder, ...transfer: readonly MessagePort[]): void {
    this.#worker.postMessage(order, transfer)
  }
}

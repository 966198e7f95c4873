import { type ChildProcess, fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import { endProcesses } from '../end-processes.ts'
import { type LanesRun, together } from '../lanes.ts'
import type { ClientPlan, FromKeysClient, KeysFill, KeysWork, ToKeysClient } from './client-orders.ts'
import type { KeysName, KeysPlace } from './key-store.ts'
import type { OpenLoad, OpenLoadRun } from './open-load.ts'

/** Client processes that measure at the same time. */
export class ClientCrew implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]
  readonly #signal = (): void => {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
    // Before the directory goes in which they have their files: they would make it again.
    process.prependOnceListener('exit', this.#signal)
  }

  static async start(clients: number, place: KeysPlace): Promise<ClientCrew> {
    const script = fileURLToPath(new URL('./client-process.js', import.meta.url))
    const children = Array.from({ length: clients }, (_, client) => {
      const plan: ClientPlan = { place, seed: client + 1 }
      return fork(script, [JSON.stringify(plan)], {
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
    })
    const crew = new ClientCrew(children)
    try {
      await Promise.all(children.map((child) => answerOf<FromKeysClient, 'opened'>(child, 'opened')))
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  /** One of them stores what is needed. @throws AetherError where the store cannot be opened: why. */
  async fill(store: KeysName, fill: KeysFill): Promise<void> {
    const order: ToKeysClient = { kind: 'fill', store, fill }
    await askProcess<FromKeysClient, 'filled'>(this.#children[0]!, order, 'filled')
  }

  /** The first `clients` of them at once: what each found, for each of the stores. */
  async measure(
    clients: number,
    stores: readonly KeysName[],
    workOf: (client: number) => KeysWork,
    timeMs: number,
  ): Promise<(readonly LanesRun[])[]> {
    const some = this.#children.slice(0, clients)
    const prepare = (client: number): ToKeysClient => ({ kind: 'prepare', stores, work: workOf(client), timeMs })
    await Promise.all(
      some.map((child, client) => askProcess<FromKeysClient, 'prepared'>(child, prepare(client), 'prepared')),
    )
    const go: ToKeysClient = { kind: 'go' }
    const found = await Promise.all(some.map((child) => askProcess<FromKeysClient, 'measured'>(child, go, 'measured')))
    return stores.map((_, which) => found.map(({ runs }) => runs[which]!))
  }

  /** Writes per second that all of them are answered together. */
  async capacity(bytes: number, timeMs: number): Promise<number> {
    const order: ToKeysClient = { kind: 'saturate', bytes, timeMs }
    const runs = async (): Promise<LanesRun[]> => {
      const said = this.#children.map((child) => askProcess<FromKeysClient, 'saturated'>(child, order, 'saturated'))
      return (await Promise.all(said)).map(({ run }) => run)
    }
    // The first time compiles.
    await runs()
    return together(await runs()).opsPerSec
  }

  /** Each offers this load. */
  async offer(bytes: number, load: OpenLoad): Promise<readonly OpenLoadRun[]> {
    const order: ToKeysClient = { kind: 'offer', bytes, load }
    const said = this.#children.map((child) => askProcess<FromKeysClient, 'offered'>(child, order, 'offered'))
    return (await Promise.all(said)).map(({ run }) => run)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const close: ToKeysClient = { kind: 'close' }
    await Promise.all(
      // One that has ended does not answer.
      this.#children
        .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
        .map((child) => askProcess<FromKeysClient, 'closed'>(child, close, 'closed').catch(() => {})),
    )
    await endProcesses(this.#children)
    process.off('exit', this.#signal)
  }
}

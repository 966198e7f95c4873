import process from 'node:process'
import { open, type Space } from '../../src/public/index.ts'
import { openStructures, type Structures } from '../../src/structures/index.ts'
import { until } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'

let last = 0

/** A space with structures, in this process and in others that a test starts and kills. */
export class Shared implements AsyncDisposable {
  readonly structures: Structures
  readonly space: Space
  readonly #processes: RankProcess[] = []

  private constructor(space: Space, structures: Structures) {
    this.space = space
    this.structures = structures
  }

  static async open(): Promise<Shared> {
    last += 1
    const space = await open(`structures-${process.pid}-${last}`)
    return new Shared(space, await openStructures(space, { size: '4MiB', poison: true }))
  }

  /** Another process that has them open. */
  async start(): Promise<RankProcess> {
    const started = new RankProcess(new URL('./fixtures/process.js', import.meta.url), {})
    this.#processes.push(started)
    await started.call('open', this.space.name)
    return started
  }

  /** Resolves when nobody is in the space but those that live, and what the dead were doing is settled. */
  async recovered(): Promise<void> {
    const living =
      1 + this.#processes.filter(({ child }) => child.exitCode === null && child.signalCode === null).length
    await until(() => this.space.members().length === living, 'the killed to be seen')
    this.structures.recover()
  }

  /** Free what can be freed. */
  collect(): void {
    this.structures.recover()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((started) => started.kill()))
    await this.structures.close()
    await this.space.close()
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReplicaPort } from './agent/replica-process.ts'
import type { Applier } from './machine/applier.ts'
import type { StateParts } from './machine/machine.ts'
import { SnapshotTaking } from './machine/snapshot-taking.ts'

interface SnapshotHandOverParts<Command, Answer> {
  readonly applier: Applier<Command, Answer>
  readonly stateParts: (() => StateParts) | undefined
  /** False if this process's part has ended, since the machine threw. */
  readonly orStop: (run: () => void) => boolean
}

/** Hands the state over to the replica, part by part, while entries are applied: for those who lack old entries. */
export class SnapshotHandOver<Command, Answer> {
  readonly #parts: SnapshotHandOverParts<Command, Answer>
  /** A snapshot that is being taken. */
  #taking: SnapshotTaking<Command, Answer> | undefined

  constructor(parts: SnapshotHandOverParts<Command, Answer>) {
    this.#parts = parts
  }

  /** One that is being taken will do. If it does not, this comes again. */
  wanted(process: ReplicaPort): void {
    if (this.#taking !== undefined || !this.#begin()) return
    // It is closed.
    this.#give(process).catch(() => this.end())
  }

  end(): void {
    this.#taking?.end()
    this.#taking = undefined
  }

  /** The state as of now. False if this process's part has ended. */
  #begin(): boolean {
    const { applier, stateParts, orStop } = this.#parts
    return orStop(() => {
      this.#taking = new SnapshotTaking(applier, stateParts)
    })
  }

  /** It rejects if this is closed meanwhile. */
  async #give(process: ReplicaPort): Promise<void> {
    let isFirst = true
    for (let part = this.#nextPart(); part !== undefined; part = this.#nextPart()) {
      if (part === 'again') isFirst = true
      else if (part !== 'later') {
        await process.addToSnapshot(part, this.#taking!.index, isFirst)
        isFirst = false
      }
      await nextTurn()
    }
    const taking = this.#taking
    if (taking === undefined) return
    const { index, first } = taking
    while (await process.offerSnapshot(index, first)) await nextTurn()
    if (this.#taking === taking) this.#taking = undefined
  }

  /** Undefined after the last, or if this was closed. `again`: what was given is of no use. */
  #nextPart(): Uint8Array<ArrayBuffer> | 'later' | 'again' | undefined {
    const taking = this.#taking
    if (taking?.isGivenUp === true) return this.#begin() ? 'again' : undefined
    let part: Uint8Array<ArrayBuffer> | 'later' | undefined
    const act = (): void => {
      part = taking?.next()
    }
    return this.#parts.orStop(act) ? part : undefined
  }
}

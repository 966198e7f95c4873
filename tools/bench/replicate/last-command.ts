import type { ReplicatedMachine } from 'aether-dsm/consensus'

/** Keeps the last command and counts them, which is the least that a machine can do. */
export class LastCommand implements ReplicatedMachine<Uint8Array, number> {
  #count = 0
  #last: Uint8Array = new Uint8Array()

  apply(command: Uint8Array): number {
    this.#last = command
    this.#count += 1
    return this.#count
  }

  snapshot(): Uint8Array[] {
    return [new Uint8Array(Float64Array.of(this.#count).buffer), this.#last]
  }

  restore([count, last]: readonly Uint8Array[]): void {
    this.#count = new Float64Array(count!.slice().buffer)[0]!
    this.#last = last!.slice()
  }
}

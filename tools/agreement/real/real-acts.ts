import type { MemoryOperation } from '../model/memory.ts'
import type { Acts, Data, Register } from '../model/process.ts'
import type { Costs } from '../play/world.ts'

/** How what a process does is carried out. */
export interface Doing {
  now(): number
  send(to: number, message: Data): void
  operate(memory: number, operation: MemoryOperation, tag: string): void
  wake(delays: number, tag: string): void
  flip(): boolean
  sign(text: string): string
  verify(process: number, text: string, signature: string): boolean
  decide(value: string): void
  elect(leader: number): void
}

const noCosts = (): Costs => ({ messages: 0, writes: 0, reads: 0, claims: 0, permissions: 0, signatures: 0 })

/** What a process does, counted. */
export class RealActs implements Acts {
  readonly costs: Costs = noCosts()
  readonly #doing: Doing

  constructor(doing: Doing) {
    this.#doing = doing
  }

  get now(): number {
    return this.#doing.now()
  }

  send(to: number, message: Data): void {
    this.costs.messages += 1
    this.#doing.send(to, message)
  }

  write(memory: number, register: Register, value: Data, tag: string): void {
    this.costs.writes += 1
    this.#doing.operate(memory, { do: 'write', register, value }, tag)
  }

  read(memory: number, registers: readonly Register[], tag: string): void {
    this.costs.reads += 1
    this.#doing.operate(memory, { do: 'read', registers }, tag)
  }

  claim(memory: number, register: Register, value: Data, tag: string): void {
    this.costs.claims += 1
    this.#doing.operate(memory, { do: 'claim', register, value }, tag)
  }

  permit(memory: number, region: string, writers: readonly number[], tag: string): void {
    this.costs.permissions += 1
    this.#doing.operate(memory, { do: 'permit', region, writers }, tag)
  }

  wake(delays: number, tag: string): void {
    this.#doing.wake(delays, tag)
  }

  flip(): boolean {
    return this.#doing.flip()
  }

  sign(text: string): string {
    this.costs.signatures += 1
    return this.#doing.sign(text)
  }

  verify(process: number, text: string, signature: string): boolean {
    return this.#doing.verify(process, text, signature)
  }

  decide(value: string): void {
    this.#doing.decide(value)
  }

  elect(leader: number): void {
    this.#doing.elect(leader)
  }
}

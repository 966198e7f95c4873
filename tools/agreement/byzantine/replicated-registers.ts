import { majorityOf, type Setting } from '../model/algorithm.ts'
import type { Acts, AgreementEvent, Data, Register } from '../model/process.ts'

/** An operation that a majority of the memories has answered. */
export interface ReplicatedAnswer {
  readonly name: string
  /** False if one of that majority refused it. */
  readonly ok: boolean
  /** By register: the only value that was found, or null if there was none, or more than one. */
  readonly values: readonly Data[]
}

interface Pending {
  readonly name: string
  readonly tag: string
  readonly answers: (readonly Data[])[]
  ok: boolean
}

/**
 * Registers that outlive a minority of their memories (PODC'19, section 4.1). An operation is carried out at all
 * memories. It is over when a majority has answered. They are regular: a read that meets a write finds the value of
 * before or after it, or none. That holds for registers of correct processes, each written by one process, and once.
 */
export class ReplicatedRegisters {
  readonly memories: number
  readonly quorum: number
  serial = 0
  pending: Pending[] = []

  constructor({ memories, memoryQuorum = majorityOf(memories) }: Setting) {
    this.memories = memories
    this.quorum = memoryQuorum
  }

  write(name: string, register: Register, value: Data, acts: Acts): void {
    this.begin(name, (memory, tag) => acts.write(memory, register, value, tag))
  }

  read(name: string, registers: readonly Register[], acts: Acts): void {
    this.begin(name, (memory, tag) => acts.read(memory, registers, tag))
  }

  permit(name: string, region: string, writers: readonly number[], acts: Acts): void {
    this.begin(name, (memory, tag) => acts.permit(memory, region, writers, tag))
  }

  /** The answer that is complete with this event, if there is one. */
  hear(event: AgreementEvent): ReplicatedAnswer | undefined {
    if (event.type !== 'answer') return undefined
    const pending = this.pending.find(({ tag }) => tag === event.tag)
    if (pending === undefined) return undefined
    pending.answers.push(event.values)
    if (!event.ok) pending.ok = false
    if (pending.answers.length < this.quorum) return undefined
    this.pending = this.pending.filter((each) => each !== pending)
    const { name, ok, answers } = pending
    return { name, ok, values: ok ? answers[0]!.map((_, at) => theOnly(answers.map((values) => values[at]!))) : [] }
  }

  private begin(name: string, at: (memory: number, tag: string) => void): void {
    this.serial += 1
    const tag = `${name} ${this.serial}`
    this.pending.push({ name, tag, answers: [], ok: true })
    for (let memory = 0; memory < this.memories; memory += 1) at(memory, tag)
  }
}

function theOnly(values: readonly Data[]): Data {
  const found = values.filter((value) => value !== null)
  const [first] = found
  if (first === undefined) return null
  const text = JSON.stringify(first)
  return found.every((value) => JSON.stringify(value) === text) ? first : null
}

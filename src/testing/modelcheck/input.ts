/** What can happen at a node: a program's doing (operation and page), or a message. Each has a number. */
export const Operation = {
  /** A thread that had nothing to do wants to read. */
  Load: 0,
  /** The same to write. Where it may already, it stores at once. */
  Store: 1,
  /** One of those woken that want to read runs: it reads, or faults once more. */
  RunReader: 2,
  RunWriter: 3,
  /** The agent gives a copy up. */
  Evict: 4,
  /** A fault that is told late: its thread has what it wanted, since others wanted it too. */
  LateLoad: 5,
  LateStore: 6,
} as const
export type Operation = (typeof Operation)[keyof typeof Operation]

const names: readonly string[] = [
  'load',
  'store',
  'run the reader',
  'run the writer',
  'evict',
  'late load',
  'late store',
]
export const OPERATIONS: number = names.length

export const operationName = (operation: number): string => names[operation]!

/** The numbers of inputs in a model of so many pages. */
export class Inputs {
  readonly #pages: number

  constructor(pages: number) {
    this.#pages = pages
  }

  program(operation: Operation, page: number): number {
    return operation * this.#pages + page
  }

  message(id: number): number {
    return OPERATIONS * this.#pages + id
  }

  isMessage(input: number): boolean {
    return input >= OPERATIONS * this.#pages
  }

  messageOf(input: number): number {
    return input - OPERATIONS * this.#pages
  }

  operationOf(input: number): Operation {
    return Math.floor(input / this.#pages) as Operation
  }

  pageOf(input: number): number {
    return input % this.#pages
  }
}

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
  /** The program wants the page to stay while it has it. */
  Pin: 7,
  Unpin: 8,
  /**
   * The agent sees that a page need not be held any more. Where a thread that was granted the page runs, it sees that
   * at once.
   */
  Retry: 9,
  /** The same, and the program pins the page again when the first waiter has been served. */
  RetryBriefly: 10,
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
  'pin',
  'unpin',
  'retry',
  'retry briefly',
]
export const OPERATIONS: number = names.length

export const operationName = (operation: number): string => names[operation]!

/** The operation of a name; undefined where there is none. */
export function operationNamed(name: string): Operation | undefined {
  const index = names.indexOf(name)
  return index < 0 ? undefined : (index as Operation)
}

/** The numbers of inputs, for a model with a number of pages. */
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

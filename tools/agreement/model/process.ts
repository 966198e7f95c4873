/** What is sent, and what registers hold: what JSON can say. An empty register holds null. */
export type Data = null | boolean | number | string | readonly Data[] | { readonly [name: string]: Data }

/** A register: one of a region of a memory, counted from 0. */
export interface Register {
  readonly region: string
  readonly index: number
}

/** What a process is told. */
export type AgreementEvent =
  /** Once, before anything else. */
  | { readonly type: 'begin'; readonly input: string }
  | { readonly type: 'message'; readonly from: number; readonly message: Data }
  /**
   * The end of an operation at a memory, by the tag that it was begun with. `ok` is false where the process had no
   * permission. `values` are what was read, or the value before a claim.
   */
  | {
      readonly type: 'answer'
      readonly memory: number
      readonly tag: string
      readonly ok: boolean
      readonly values: readonly Data[]
    }
  | { readonly type: 'timer'; readonly tag: string }
  /** The process that the failure detector Omega takes for the leader. It may be wrong for any finite time. */
  | { readonly type: 'leader'; readonly leader: number }

/** The messages of a process. Links lose nothing and keep no order. */
interface Messages {
  send(to: number, message: Data): void
}

/**
 * The memories of a process. Operations of one process at one memory are carried out in order. None is answered by a
 * memory that has crashed.
 */
interface Memories {
  write(memory: number, register: Register, value: Data, tag: string): void
  read(memory: number, registers: readonly Register[], tag: string): void
  /** Writes where the register is empty, as compare-and-swap does; the answer is what it held before. */
  claim(memory: number, register: Register, value: Data, tag: string): void
  /** Asks the memory that from now on only these processes may write to the region. */
  permit(memory: number, region: string, writers: readonly number[], tag: string): void
}

/** What a process can do in a step. */
export interface Acts extends Messages, Memories {
  /** Time, in delays: one is what a message takes. */
  readonly now: number
  /** An event of type `timer` after as many delays. */
  wake(delays: number, tag: string): void
  flip(): boolean
  /** A signature by this process. */
  sign(text: string): string
  verify(process: number, text: string, signature: string): boolean
  decide(value: string): void
  /** Says whom the process takes for the leader from now on, where that is the task. */
  elect(leader: number): void
}

/**
 * One process of an algorithm. It does nothing but in a step: it has no clock, no randomness and no I/O of its own.
 *
 * Its fields are plain data and objects with plain fields. For a play copies processes to go on from one state in
 * several ways, and compares them by what `JSON.stringify` tells. So a class has no `#names` here: a copy has none.
 */
export interface Process {
  step(event: AgreementEvent, acts: Acts): void
}

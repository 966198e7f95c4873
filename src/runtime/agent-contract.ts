import type { MessagePort } from 'node:worker_threads'
import type { AetherErrorCode } from '../native/index.ts'
import type { Runtime } from './runtime.ts'

/** What the agent gives to the machine that runs in it. */
export interface AgentContext {
  readonly runtime: Runtime
  /** Send an unsolicited note to the main thread. */
  notify(note: unknown): void
  /** End the process at once, with `message` as its last line on standard error. */
  exit(code: number, message: string): never
}

/** The answer to a command: exactly one of the two is called. */
export interface Reply {
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * What runs in the agent: a synchronous state machine with everything it listens to. The agent calls `turn` until it
 * returns false, then `prepareSleep`, then sleeps on `descriptors`.
 */
export interface Machine {
  /** Handle what has happened. Returns true if there was anything; then the agent turns again before it sleeps. */
  turn(): boolean
  /**
   * There was nothing to do: true to turn again at once, false to sleep. Without this the agent looks on for `spinNs`
   * after each turn in which there was something.
   */
  looksOn?(): boolean
  /** Arm every wake-up. Returns false if something has happened in the meantime. */
  prepareSleep(): boolean
  /**
   * Sleep as `native.poll` does, if the machine has its own way to. {@link awoke} handles what has happened in the
   * meantime.
   */
  poll?(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): void
  /** The sleep has ended: called before anything else. */
  awoke?(): void
  /** Descriptors whose readability ends the sleep. A local agent takes the same array for the same files. */
  readonly descriptors: readonly number[]
  /** One of them has ended a sleep. */
  readable?(descriptor: number): void
  /** A request from the main thread, off the hot path. */
  command(name: string, payload: unknown, reply: Reply): void
  /** The process is about to end: free what others would otherwise wait for. */
  close(): void
}

/** What a machine's module exports as `createMachine`. */
export type MachineFactory = (context: AgentContext, data: unknown) => Machine

/**
 * Words that main thread and agent share (Int32, one SharedArrayBuffer). `Bell` counts requests. `Asleep` is 1 while
 * the agent sleeps: only then is a system call spent on waking it. `SyncReplies` counts the replies on the port for
 * blocking senders. `ExitCode` is the process's while it leaves.
 */
export const AgentWord = { Bell: 0, Asleep: 1, State: 2, SyncReplies: 3, ExitCode: 4, Count: 5 } as const

/** Values of `AgentWord.State`. */
export const AgentState = {
  Starting: 0,
  Running: 1,
  /** Set by the main thread's exit handler: keep serving, and end the process with its own code. */
  Leaving: 2,
  /** The environment may be torn down. */
  Left: 3,
  /** Set by `close()`: finish. */
  Closing: 4,
  Closed: 5,
} as const

/** The start data of the worker. */
export interface AgentStart {
  readonly machineUrl: string
  readonly machineData: unknown
  readonly words: SharedArrayBuffer
  /** Replies to commands whose sender blocks, and so does not see its event loop. */
  readonly syncPort: MessagePort
  readonly doorbell: number
  /** How long to turn without work before sleeping; 0 if threads outnumber processors. */
  readonly spinNs: number
  readonly seed: number
}

/** A message over the port from main thread to agent. */
export interface CommandMessage {
  readonly id: number
  readonly name: string
  readonly payload: unknown
  /** The sender blocks until it has the reply. */
  readonly sync: boolean
}

/** A message from the agent. `id` is absent in notes. */
export type AgentMessage =
  | { readonly kind: 'up' }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly code: AetherErrorCode; readonly message: string }
  | { readonly kind: 'note'; readonly note: unknown }

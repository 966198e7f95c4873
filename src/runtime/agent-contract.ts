import type { MessagePort } from 'node:worker_threads'
import type { AetherErrorCode } from '../native/index.ts'
import type { Runtime } from './runtime.ts'

/** What the agent gives to the machine that runs in it. */
export interface AgentContext {
  readonly runtime: Runtime
  /** Say something to the main thread without having been asked. */
  notify(note: unknown): void
}

/** The answer to a command: exactly one call of either. */
export interface Reply {
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * What runs in the agent: a synchronous state machine with everything it listens to.
 * The agent calls `turn` until it returns false, then `prepareSleep`, then sleeps on `descriptors`.
 */
export interface Machine {
  /** Handle what has happened. True where anything had: the agent turns again before it thinks of sleeping. */
  turn(): boolean
  /** Arm every wake-up. False where something has happened meanwhile. */
  prepareSleep(): boolean
  /**
   * Sleep as `native.poll` does, where the machine has its own way to. What has happened meanwhile is handled by
   * {@link awoke}.
   */
  poll?(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): void
  /** The sleep has ended: called before anything else. */
  awoke?(): void
  /** Descriptors whose readability ends the sleep. */
  readonly descriptors: readonly number[]
  /** A request from the main thread, off the hot path. */
  command(name: string, payload: unknown, reply: Reply): void
  /** The process is about to end: free what others would otherwise wait for. */
  close(): void
}

/** What a machine's module exports as `createMachine`. */
export type MachineFactory = (context: AgentContext, data: unknown) => Machine

/**
 * Words that main thread and agent share (Int32, one SharedArrayBuffer).
 * `Bell` counts requests; `Asleep` is 1 while the agent sleeps, so that only then a system call is spent on waking it.
 * `SyncReplies` counts what was said on the port for those who block. `ExitCode` is the process's, while it leaves.
 */
export const AgentWord = { Bell: 0, Asleep: 1, State: 2, SyncReplies: 3, ExitCode: 4, Count: 5 } as const

/** Values of `AgentWord.State`. */
export const AgentState = {
  Starting: 0,
  Running: 1,
  /** Asked by the main thread's exit handler: keep serving, and end the process with its own code. */
  Leaving: 2,
  /** The environment may be torn down. */
  Left: 3,
  /** Asked by `close()`: finish. */
  Closing: 4,
  Closed: 5,
} as const

/** What the worker is started with. */
export interface AgentStart {
  readonly machineUrl: string
  readonly machineData: unknown
  readonly words: SharedArrayBuffer
  /** Replies to commands whose sender blocks, and so does not see its event loop. */
  readonly syncPort: MessagePort
  readonly doorbell: number
  /** Turn for so long without work before sleeping; 0 where threads outnumber processors. */
  readonly spinNs: number
  readonly seed: number
}

/** What travels over the port, main thread to agent. */
export interface CommandMessage {
  readonly id: number
  readonly name: string
  readonly payload: unknown
  /** The sender blocks until it has the reply. */
  readonly sync: boolean
}

/** What travels back. `id` is absent in notes. */
export type AgentMessage =
  | { readonly kind: 'up' }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly code: AetherErrorCode; readonly message: string }
  | { readonly kind: 'note'; readonly note: unknown }

/**
 * Time, timers and seeded randomness for state machines, the directory where processes of a user meet, and the *agent*:
 * the Worker in which a process runs them.
 *
 * The agent answers for the process while its own thread computes or is blocked. What it runs is a {@link Machine},
 * made by the module named at start; the two threads talk through shared memory, and a doorbell pipe wakes the agent
 * where it sleeps.
 */
export { addAbortCallback, removeAbortCallback } from './abort-callbacks.ts'
export { Agent, type AgentOptions } from './agent.ts'
export type { AgentContext, Machine, MachineFactory, Reply } from './agent-contract.ts'
export { KeepAlive } from './keep-alive.ts'
export { Random } from './random.ts'
export type { Runtime } from './runtime.ts'
export { RUNTIME_DIRECTORY_VARIABLE, runtimeDirectory } from './runtime-directory.ts'
export { Timers } from './timers.ts'

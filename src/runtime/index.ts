/**
 * Time, timers and seeded randomness for state machines, the directory where processes of a user meet, and the *agent*.
 *
 * The agent is the Worker in which a process runs its state machines. It answers for the process while the program's
 * own thread computes or is blocked. It runs a {@link Machine}, made by the module named at start. The two threads talk
 * through shared memory; a doorbell pipe wakes the agent if it sleeps. A *local agent* runs a machine on the program's
 * own event loop.
 */
export { addAbortCallback, removeAbortCallback } from './abort-callbacks.ts'
export { Agent } from './agent.ts'
export type { AgentContext, Machine, MachineFactory, Reply } from './agent-contract.ts'
export { DeadlineTimer } from './deadline-timer.ts'
export { offExit, onExit } from './exit-hook.ts'
export { mapForeignMemory } from './foreign-memory.ts'
export { KeepAlive } from './keep-alive.ts'
export { LocalAgent } from './local-agent.ts'
export { LookBudget } from './look-budget.ts'
export { isLoopback, isOfThisMachine } from './own-addresses.ts'
export { pidNamespace } from './pid-namespace.ts'
export { openLife, ownLife, type ProcessLife } from './process-life.ts'
export { Random } from './random.ts'
export type { Runtime } from './runtime.ts'
export { runtimeDirectory } from './runtime-directory.ts'
export { makeSecret, readSecret, SECRET_FILE_VARIABLE, SecretError, secretOfEnvironment } from './secret.ts'
export { soon } from './soon.ts'
export { timerDelay } from './timer-delay.ts'
export { Timers } from './timers.ts'
export { untilAborted } from './until-aborted.ts'
export { WakefulLoop } from './wakeful-loop.ts'

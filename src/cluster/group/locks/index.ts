/**
 * Locks of a group: fair, for one writer or several readers, kept by the agents, and passed on when their holder dies.
 */
export { HeldLock, LOCK_NAME_BYTES_MAX, type LockRequest, Locks, LockTimeoutError } from './lock.ts'
export { LockMachine, type LockOutcome } from './lock-machine.ts'
export type { LockMode } from './lock-queue.ts'

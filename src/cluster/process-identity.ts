import { readFileSync } from 'node:fs'
import process from 'node:process'
import { native, processStatus } from '../native/index.ts'
import { pidNamespace } from '../runtime/index.ts'

/**
 * A thread of a process, distinguished from a later one with the same number. The kernel counts start times in ticks
 * since boot, and reuses a number only after thousands of processes.
 */
export interface ThreadIdentity {
  readonly processId: number
  /** Equal to `processId` for the main thread. */
  readonly threadId: number
  /** Clock ticks since boot. */
  readonly startTime: number
}

/** The calling thread. */
export function ownIdentity(): ThreadIdentity {
  const threadId = native.threadId()
  return { processId: process.pid, threadId, startTime: startTimeOf(process.pid, threadId) ?? 0 }
}

/** True while this very thread lives. A zombie does not. */
export function isAlive(identity: ThreadIdentity): boolean {
  return startTimeOf(identity.processId, identity.threadId) === identity.startTime
}

/** When the thread started; undefined if it does not exist, or is a zombie. */
export function startTimeOf(processId: number, threadId: number = processId): number | undefined {
  const fields = processStatus(processId, threadId)
  const state = fields?.[0]
  return fields === undefined || state === 'Z' || state === 'X' ? undefined : Number(fields[19])
}

/** Words about a process for an error message: its number, its command, whether it is stopped. */
export function describeProcess(processId: number): string {
  const stopped = processStatus(processId)?.[0]?.toUpperCase() === 'T'
  const command = commandOf(processId)
  return `process ${processId}${command === '' ? '' : ` (${command})`}${stopped ? ', which is stopped' : ''}`
}

let namespace: number | undefined

/** {@link pidNamespace} as 32 bits: the inode of a namespace has no more. */
export function ownNamespace(): number {
  namespace ??= Number(pidNamespace()) | 0
  return namespace
}

function commandOf(processId: number): string {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 120)
  } catch {
    return ''
  }
}

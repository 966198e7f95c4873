import { readFileSync, readlinkSync } from 'node:fs'
import process from 'node:process'
import { native } from '../native/index.ts'

/**
 * A thread of a process, told apart from a later one that was given the same number: the kernel counts start times in ticks since boot,
 * and numbers come round again only after thousands of processes.
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

/** When the thread started; undefined when there is none, or only its zombie. */
export function startTimeOf(processId: number, threadId: number = processId): number | undefined {
  const fields = statusFields(`/proc/${processId}/task/${threadId}/stat`)
  const state = fields?.[0]
  return fields === undefined || state === 'Z' || state === 'X' ? undefined : Number(fields[19])
}

/** A bit of the flags in proc(5), from the kernel's sched.h. */
const PF_EXITING = 4

/**
 * True when the process is gone, a zombie, or on its way there: once the kernel has taken its memory away, and for as long as its descriptors
 * take to close, what is under /proc/PID/fd belongs to root, so that its own user is refused (EACCES).
 */
export function isEnding(processId: number): boolean {
  const fields = statusFields(`/proc/${processId}/stat`)
  const state = fields?.[0]
  return fields === undefined || state === 'Z' || state === 'X' || (Number(fields[6]) & PF_EXITING) !== 0
}

/** Words about a process for an error message: its number, its command, whether it is stopped. */
export function describeProcess(processId: number): string {
  const stopped = statusFields(`/proc/${processId}/stat`)?.[0]?.toUpperCase() === 'T'
  const command = commandOf(processId)
  return `process ${processId}${command === '' ? '' : ` (${command})`}${stopped ? ', which is stopped' : ''}`
}

/** Number of this process's pid namespace: process numbers mean something only within one. */
export function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}

/** proc(5): what follows the command, which may itself hold spaces and brackets. Index 0 is field 3, the state; 19 is field 22, the start time. */
function statusFields(path: string): readonly string[] | undefined {
  try {
    const text = readFileSync(path, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function commandOf(processId: number): string {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 120)
  } catch {
    return ''
  }
}

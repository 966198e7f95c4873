import { readFileSync } from 'node:fs'

/** PF_EXITING of the kernel's include/linux/sched.h, in field 9 of proc(5)'s stat. */
const EXITING = 4
/** Index of field 3, the state, and of field 9, the flags, in the result of {@link processStatus}. */
const STATE = 0
const FLAGS = 6

/**
 * Return what proc(5) says of a process, or of one of its threads, from field 3 (index 0) on; undefined when it is
 * gone. The command field before it may contain spaces and brackets.
 */
export function processStatus(processId: number, threadId?: number): readonly string[] | undefined {
  try {
    const task = threadId === undefined ? '' : `/task/${threadId}`
    const text = readFileSync(`/proc/${processId}${task}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/**
 * True if the process is gone, a zombie, or ending. Once the kernel has taken its memory away, and while its
 * descriptors close, /proc/PID/fd belongs to root, and its own user is refused (EACCES). The pidfd reports the end only
 * later.
 */
export function isEnding(processId: number): boolean {
  const fields = processStatus(processId)
  const state = fields?.[STATE]
  return fields === undefined || state === 'Z' || state === 'X' || (Number(fields[FLAGS]) & EXITING) !== 0
}

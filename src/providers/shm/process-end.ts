import { readFileSync } from 'node:fs'

/** PF_EXITING of include/linux/sched.h, in field 9 of proc(5)'s stat. */
const EXITING = 4
/** After the command, which may hold spaces and brackets, field 3 is the state and field 9 the flags. */
const STATE = 0
const FLAGS = 6

/**
 * Whether the process has ended or is ending. Its descriptors are closed a while before its pidfd says so: what fails at a peer in between fails because of its end.
 */
export function isEnding(processId: number): boolean {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const state = fields[STATE]
    return state === 'Z' || state === 'X' || (Number(fields[FLAGS]) & EXITING) !== 0
  } catch {
    return true
  }
}

import { processStatus } from '../../../native/index.ts'

/** What keeps a process from answering, by the state letter of proc(5)'s stat. */
const states: Readonly<Record<string, string>> = {
  T: 'is stopped (SIGSTOP)',
  t: 'is stopped by a debugger',
  D: 'waits for a device or a file',
  Z: 'has ended',
  X: 'has ended',
}

/** What can be seen of a rank that does not answer. `processId` is undefined if the rank is on another machine. */
export function healthInWords(processId: number | undefined): string {
  if (processId === undefined) return 'does not answer'
  const state = processStatus(processId)?.[0]
  if (state === undefined) return `does not answer: process ${processId} has ended`
  const why = states[state]
  return why === undefined ? `does not answer (process ${processId})` : `does not answer: process ${processId} ${why}`
}

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { processStatus } from '../../native/index.ts'
import { startTimeOf } from '../process-identity.ts'

/** Index of field 4, the parent, in the result of {@link processStatus}. */
const PARENT = 1

/**
 * Return a name of the process that started the ranks of this machine, as `PID-START`. It is the nearest ancestor whose
 * environment (proc(5), /proc/PID/environ) does not have `rankVariable`; that of a shell between it and the rank does.
 * Undefined: /proc does not tell.
 */
export function launcherProcess(rankVariable: string): string | undefined {
  let processId = process.pid
  do processId = Number(processStatus(processId)?.[PARENT])
  while (environmentOf(processId)?.some((entry) => entry.startsWith(`${rankVariable}=`)))
  const start = startTimeOf(processId)
  return start === undefined ? undefined : `${processId}-${start}`
}

function environmentOf(processId: number): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${processId}/environ`, 'latin1').split('\0')
  } catch {
    return undefined
  }
}

import { readdirSync, readFileSync } from 'node:fs'

/**
 * Processor time of another process, all its threads, in ns; what a thread that runs just now has taken since the last
 * tick of the scheduler is missing. NaN where the process is gone or the kernel keeps no such account
 * (`/proc/PID/task/TID/schedstat`).
 */
function processorNsOf(pid: number): number {
  try {
    const folder = `/proc/${pid}/task`
    return readdirSync(folder)
      .map((thread) => Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]))
      .reduce((sum, ns) => sum + ns, 0)
  } catch {
    return Number.NaN
  }
}

/** The sum over several. */
export function processorNsOfAll(pids: readonly number[]): number {
  return pids.map(processorNsOf).reduce((sum, ns) => sum + ns, 0)
}

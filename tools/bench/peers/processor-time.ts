import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time of all threads of another process, in ns. It does not include the time of a running thread since the last
 * tick of the scheduler. NaN if the process is gone or the kernel has no `/proc/PID/task/TID/schedstat`.
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

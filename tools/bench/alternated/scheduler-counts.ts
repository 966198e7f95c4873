import { readFileSync } from 'node:fs'

/** What the scheduler counted for event loops, which are the main threads of their processes. */
export interface SchedulerCounts {
  /** On a processor. */
  readonly cpuNs: number
  /** Ready to run, without a processor. */
  readonly delayNs: number
  /** How often they gave up the processor, to sleep or to let others run. */
  readonly sleeps: number
  /** How often the processor was taken from them. */
  readonly preemptions: number
}

/** All NaN if a process is gone, or the kernel does not count. */
const unknown: SchedulerCounts = { cpuNs: Number.NaN, delayNs: Number.NaN, sleeps: Number.NaN, preemptions: Number.NaN }

/** The sum over the main threads of the processes, until now. */
export function schedulerCountsOf(pids: readonly number[]): SchedulerCounts {
  return pids.map(countsOf).reduce((sum, each) => combined(sum, each, 1))
}

export function countsSince(before: SchedulerCounts, now: SchedulerCounts): SchedulerCounts {
  return combined(now, before, -1)
}

function countsOf(pid: number): SchedulerCounts {
  try {
    const folder = `/proc/${pid}/task/${pid}`
    const [cpuNs, delayNs] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number)
    const status = readFileSync(`${folder}/status`, 'utf8')
    const count = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    return {
      cpuNs: cpuNs!,
      delayNs: delayNs!,
      sleeps: count('voluntary_ctxt_switches'),
      preemptions: count('nonvoluntary_ctxt_switches'),
    }
  } catch {
    return unknown
  }
}

function combined(one: SchedulerCounts, other: SchedulerCounts, times: number): SchedulerCounts {
  return {
    cpuNs: one.cpuNs + times * other.cpuNs,
    delayNs: one.delayNs + times * other.delayNs,
    sleeps: one.sleeps + times * other.sleeps,
    preemptions: one.preemptions + times * other.preemptions,
  }
}

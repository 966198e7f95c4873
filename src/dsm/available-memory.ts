import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * How many bytes this process could take now before the kernel would have to kill a process. The smaller of what the
 * machine has available and what is left in the tightest control group. Undefined if the kernel does not tell.
 */
export function availableMemory(): number | undefined {
  const limits = [machineAvailable(), ...groupsAvailable()].filter((bytes) => bytes !== undefined)
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits))
}

function machineAvailable(): number | undefined {
  const match = /^MemAvailable:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')
  return match === null ? undefined : Number(match[1]) * 1024
}

/**
 * Version 2 has one hierarchy (`0::/path`), version 1 one for memory (`4:memory:/path`). A limit may stand at any level
 * above.
 */
function groupsAvailable(): readonly (number | undefined)[] {
  const lines = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'))
  return lines.flatMap(([, controllers = '', path = '/']) => {
    if (controllers === '')
      return levels(path).map((level) => groupLeft(join('/sys/fs/cgroup', level), 'memory.max', 'memory.current'))
    if (!controllers.split(',').includes('memory')) return []
    const names = ['memory.limit_in_bytes', 'memory.usage_in_bytes'] as const
    return levels(path).map((level) => groupLeft(join('/sys/fs/cgroup/memory', level), ...names))
  })
}

function groupLeft(directory: string, limitFile: string, usageFile: string): number | undefined {
  const limit = Number(read(join(directory, limitFile)) ?? Number.NaN)
  const usage = Number(read(join(directory, usageFile)) ?? Number.NaN)
  // Recently read files count as usage, but the kernel drops them before it refuses memory.
  const droppable = Number(/^inactive_file (\d+)$/m.exec(read(join(directory, 'memory.stat')) ?? '')?.[1] ?? 0)
  const left = limit - usage + droppable
  return Number.isFinite(left) ? left : undefined
}

/** `/a/b` → `/a/b`, `/a`, `/`. */
function levels(path: string): readonly string[] {
  const above = dirname(path)
  return above === path ? [path] : [path, ...levels(above)]
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import { pidNamespace, runtimeDirectory } from '../../runtime/index.ts'

/**
 * Where a process runs, so that others can tell whether they can reach its memory. These are digests, since others need
 * to know no more.
 */
export interface Machine {
  /** Same for processes that meet in one space: one boot, pid namespace, user, and runtime directory. */
  readonly space: string
  /** Same for processes that see each other's process numbers: one boot and pid namespace. */
  readonly processes: string
  /** The machine's name for people. */
  readonly host: string
}

export function thisMachine(): Machine {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  const { dev, ino } = statSync(runtimeDirectory('spaces'))
  const processes = digest(boot, pidNamespace())
  return { space: digest(processes, process.geteuid?.(), dev, ino), processes, host: hostname() }
}

function digest(...parts: readonly unknown[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)
}

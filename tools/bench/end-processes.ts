import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Kills those that still run. Resolves when all have ended. */
export async function endProcesses(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }),
  )
}

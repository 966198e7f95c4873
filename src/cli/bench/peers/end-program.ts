import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** For a program to give back what it has of the machine. */
const GRACE_MS = 10_000

/** Ends a program of others and waits for it: by a signal at which it tidies up (killed, libfabric leaves its shared memory in /dev/shm), and by force where it does not end. */
export async function endProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  try {
    await ended
  } finally {
    clearTimeout(timer)
  }
}

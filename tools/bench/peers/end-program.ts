import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import process from 'node:process'

/** For a program to give back what it has of the machine. */
const GRACE_MS = 10_000

/** For the exit of this process, while the user who interrupted it waits. */
const EXIT_GRACE_MS = 2000

/**
 * Ends another program when this process exits, until it is disposed of. If two programs talk, the one that is left
 * would spin for ever. First it sends a signal, as {@link endProgram} does. A library of libfabric exits in its
 * handler, which waits for ever for a mutex if the program is just starting. So after some time the program is killed.
 */
export function endOnExit(child: ChildProcess): Disposable {
  const onExit = (): void => {
    child.kill('SIGTERM')
    const endMs = performance.now() + EXIT_GRACE_MS
    const nobody = new Int32Array(new SharedArrayBuffer(4))
    while (isRunning(child)) {
      if (performance.now() > endMs) return void child.kill('SIGKILL')
      Atomics.wait(nobody, 0, 0, 10)
    }
  }
  process.once('exit', onExit)
  return { [Symbol.dispose]: () => void process.off('exit', onExit) }
}

/** While this process exits it hears of no end: of what has ended the system knows until then. */
function isRunning({ pid }: ChildProcess): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return status[status.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}

/**
 * Ends another program and waits for it. It sends a signal at which the program cleans up, because a killed libfabric
 * leaves its shared memory in /dev/shm. If the program does not end, it is killed.
 */
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

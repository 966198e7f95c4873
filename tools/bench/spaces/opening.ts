import { fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { native } from 'aether-dsm/internal/native'
import { answerOf } from '../ask-process.ts'
import type { StorePlan } from './kept-store.ts'

/** What a process says that opens a store. */
export type FromOpener =
  | { readonly kind: 'opened'; readonly ns: number }
  | { readonly kind: 'failed'; readonly why: string }

const OPENINGS_MAX = 5
/** All openings of a store, in times of how long an operation is measured. */
const TIMES = 4

/**
 * Nanoseconds from the call that opens a store to the first value, in a new process each time. Five times, or fewer if
 * it takes long. @throws AetherError
 */
export async function openings(plan: StorePlan, timeMs: number): Promise<number[]> {
  const found: number[] = []
  const until = native.monotonicNs() + TIMES * timeMs * 1e6
  do found.push(await opening(plan))
  while (found.length < OPENINGS_MAX && native.monotonicNs() < until)
  return found
}

async function opening(plan: StorePlan): Promise<number> {
  const script = fileURLToPath(new URL('./opener-process.js', import.meta.url))
  const child = fork(script, [JSON.stringify(plan)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const kill = (): void => void child.kill('SIGKILL')
  // Before the directory goes in which it has its files: it would make it again.
  process.prependOnceListener('exit', kill)
  const ended = once(child, 'exit')
  try {
    return (await answerOf<FromOpener, 'opened'>(child, 'opened')).ns
  } finally {
    await ended
    process.off('exit', kill)
  }
}

import process from 'node:process'
import { native, SystemError } from '../native/index.ts'

/**
 * Shortest turn that the scheduler gives. An agent that is rung has to be on a processor at once, and does not stay
 * there for long. A life thread has to end at once.
 */
export const SLICE_NS_MIN = 100_000

/** Where the end of a process is seen by others of its machine. */
export interface ProcessLife {
  readonly processId: number
  /** See `native.lifeThread`. Releases before it say none. */
  readonly lifeThread?: number | undefined
}

/** That of this process. */
export function ownLife(): ProcessLife {
  const lifeThread = native.lifeThread()
  native.setSlice(SLICE_NS_MIN, lifeThread)
  return { processId: process.pid, lifeThread }
}

/**
 * A descriptor that is readable once that process is ending, for certain. Undefined if it has ended. It tells nothing
 * of what other threads of that process still do in their last moment.
 */
export function openLife({ processId, lifeThread }: ProcessLife): number | undefined {
  try {
    return (lifeThread && openThread(lifeThread)) ?? native.openProcess(processId)
  } catch (error) {
    if (error instanceof SystemError && error.errnoName === 'ESRCH') return undefined
    throw error
  }
}

/** Undefined where the kernel has no descriptors of threads. */
function openThread(threadId: number): number | undefined {
  try {
    return native.openThread(threadId)
  } catch (error) {
    if (error instanceof SystemError && error.errnoName === 'EINVAL') return undefined
    throw error
  }
}

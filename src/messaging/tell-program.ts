import { messageOfThrown } from '../native/index.ts'

/**
 * Tell the program of something, where what it throws has nothing left to end: that becomes a warning of the process.
 */
export function tellProgram(tell: () => void): void {
  try {
    tell()
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : messageOfThrown(thrown))
  }
}

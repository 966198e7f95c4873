import { messageOfThrown } from '../native/index.ts'

/** Call the program when there is nothing left to end if it throws: an error becomes a warning of the process. */
export function tellProgram(tell: () => void): void {
  try {
    tell()
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : messageOfThrown(thrown))
  }
}

import { UsageError } from '../usage-error.ts'

/** What a task of `aether space` has done. */
export interface TaskOutcome {
  /** For programs. */
  readonly result: object
  /** For people. */
  readonly lines: readonly string[]
  readonly failed?: boolean
}

/** One task of `aether space`, with what follows its word. */
export type SpaceTask = (
  operands: readonly string[],
  options: { readonly directory?: string; readonly add: boolean; readonly consistent: boolean },
) => Promise<TaskOutcome>

/** @throws UsageError unless there are as many operands as names. */
export function operandsOf(task: string, operands: readonly string[], names: readonly string[]): readonly string[] {
  if (operands.length === names.length) return operands
  throw new UsageError(`'npx aether-dsm space ${task}' takes ${names.join(' and ')}`, 'space')
}

/** Whether a word is a path, not the name of a space. */
export function isPath(word: string): boolean {
  return word.includes('/') || word === '.' || word === '..'
}

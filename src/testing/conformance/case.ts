import type { Context } from './context.ts'

/** One rule of verbs, shown by doing. */
export interface ConformanceCase {
  readonly name: string
  /**
   * Where the rule is written: man page, specification section, kernel or library source, or this project's contract.
   */
  readonly rule: string
  run(context: Context): Promise<void>
}

/** A case as one expression. */
export function rule(name: string, source: string, run: (context: Context) => Promise<void>): ConformanceCase {
  return { name, rule: source, run }
}

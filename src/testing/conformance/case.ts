import type { Context } from './context.ts'

/** One rule of verbs, shown by running it. */
export interface ConformanceCase {
  readonly name: string
  /** The source of the rule: man page, specification section, kernel or library source, or this project's contract. */
  readonly rule: string
  run(context: Context): Promise<void>
}

/** A case as one expression. */
export function rule(name: string, source: string, run: (context: Context) => Promise<void>): ConformanceCase {
  return { name, rule: source, run }
}

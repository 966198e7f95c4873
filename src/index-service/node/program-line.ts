import { DefectError } from '../../native/index.ts'
import { isFault, type Reply } from '../commands/reply.ts'
import { IndexError } from '../errors.ts'
import type { CallLimits } from '../port.ts'
import type { ShardScratch } from '../state/scratch.ts'
import type { ShardAnswer, ShardCommand } from '../state/shard-command.ts'

/** It is synchronous, and may be run several times. */
export type Program<T> = (scratch: ShardScratch) => T

/** How programs reach a shard. */
export interface ProgramShard {
  /** All that was answered to anyone before is in it. */
  withScratch<T>(use: (scratch: ShardScratch) => T, limits: CallLimits): Promise<T>
  propose(command: ShardCommand, limits: CallLimits): Promise<ShardAnswer>
}

interface Waiting {
  readonly program: Program<unknown>
  readonly limits: CallLimits
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** How often programs are run again because something has changed. */
const TRIES_MAX = 50
/** Programs that run one after the other over one scratch, and take effect together. */
const TOGETHER_MAX = 128
const TOGETHER_MS = 10
const TOGETHER_EFFECTS = 1024

/**
 * Programs for a shard, in the order in which they came. Those that wait while others take effect run over one scratch.
 * Each sees what those before it did, and their effects are one command of the log.
 */
export class ProgramLine {
  readonly #shard: ProgramShard
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(shard: ProgramShard) {
    this.#shard = shard
  }

  run<T>(program: Program<T>, limits: CallLimits): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ program, limits, resolve: resolve as (result: unknown) => void, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      // All of this turn go together.
      setImmediate(() => void this.#runAll())
    })
  }

  /** A program that changes nothing need not wait for others to take effect. */
  async read<T>(program: Program<T>, limits: CallLimits): Promise<T> {
    return await this.#shard.withScratch(program, limits)
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#runSome(this.#waiting.splice(0, TOGETHER_MAX))
    this.#isRunning = false
  }

  /** What was not run goes back to those that wait. */
  async #runSome(together: readonly Waiting[]): Promise<void> {
    let done = together
    try {
      const outcomes = await this.#tryOften(together, (count) => {
        done = together.slice(0, count)
      })
      for (const [at, outcome] of outcomes.entries()) settle(done[at]!, outcome)
    } catch (error) {
      for (const { reject } of done) reject(error)
    }
    this.#waiting.unshift(...together.slice(done.length))
  }

  async #tryOften(together: readonly Waiting[], onRun: (count: number) => void): Promise<readonly Outcome[]> {
    const { limits } = together[0]!
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { outcomes, command } = await this.#shard.withScratch((scratch) => runOver(scratch, together), limits)
      onRun(outcomes.length)
      const answer = command === undefined ? [] : await this.#shard.propose(command, limits)
      if (answer === null) continue
      checkApplied(answer as readonly Reply[])
      return outcomes
    }
    const message = `keys of the script have changed each of the ${TRIES_MAX} times that it was run; try again`
    throw new IndexError('BUSY', message, { outcome: 'not-applied' })
  }
}

function runOver(
  scratch: ShardScratch,
  together: readonly Waiting[],
): { readonly outcomes: readonly Outcome[]; readonly command: ShardCommand | undefined } {
  const outcomes: Outcome[] = []
  const startMs = performance.now()
  for (const { program } of together) {
    outcomes.push(outcomeOf(program, scratch))
    if (scratch.effects.length >= TOGETHER_EFFECTS || performance.now() - startMs >= TOGETHER_MS) break
  }
  const { effects, watched } = scratch
  return { outcomes, command: effects.length === 0 ? undefined : { calls: effects, watched, admitted: true } }
}

function outcomeOf(program: Program<unknown>, scratch: ShardScratch): Outcome {
  try {
    return { result: program(scratch) }
  } catch (error) {
    return { error }
  }
}

function settle({ resolve, reject }: Waiting, outcome: Outcome): void {
  if ('result' in outcome) resolve(outcome.result)
  else reject(outcome.error)
}

/** The state was as the programs have seen it, and memory was looked at before: no effect is refused. */
function checkApplied(replies: readonly Reply[]): void {
  const fault = replies.find(isFault)
  if (fault !== undefined) throw new DefectError(`what a script did was refused: ${fault.message}`)
}

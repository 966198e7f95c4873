import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** On a machine that has much to do, too. */
const PATIENCE_MS = 60_000

/** Processes that are known by a variable of their environment, which those that they start inherit. */
export class MarkedProcesses {
  readonly environment: NodeJS.ProcessEnv

  readonly #mark = `AETHER_TEST_MARK=${randomUUID()}`

  constructor(environment: NodeJS.ProcessEnv = {}) {
    const [name = '', value] = this.#mark.split('=')
    this.environment = { ...process.env, ...environment, [name]: value }
  }

  /** The words that each of those that run was started with. */
  commands(): string[][] {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .flatMap((entry) => {
        try {
          if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(this.#mark)) return []
          return [readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')]
        } catch {
          // It ended while we looked, or it is another user's.
          return []
        }
      })
  }

  /**
   * Until those that run are as they should be. @throws Error with what they are, in the end, or with what `whyNever`
   * says.
   */
  async until(
    isReached: (commands: readonly string[][]) => boolean,
    whyNever: () => string | undefined = () => undefined,
  ): Promise<void> {
    for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(10)) {
      const commands = this.commands()
      if (isReached(commands)) return
      const why = whyNever()
      if (why !== undefined) throw new Error(why)
      if (Date.now() > endMs) throw new Error(`still there: ${commands.map((words) => words.join(' ')).join('; ')}`)
    }
  }
}

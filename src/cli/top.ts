import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Frame, ObservedSpace } from '../dashboard/index.ts'
import { type Command, ExitCode } from './command.ts'
import { parseOptions, secondsOption } from './options.ts'
import { Screen } from './output/screen.ts'
import { attachTo, chooseSpace } from './space-choice.ts'
import { showTop } from './top/top-view.ts'

const table = {
  interval: { type: 'string', default: '1' },
  once: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether top [SPACE] [options]

Shows a running space or group of yours on this machine: its members, and what each uses and waits for. Below are
traffic between the ranks, regions, the busiest structures, and replicated state machines. Without a name it shows
the only running space.

It is not a member of the space. It reads shared memory, takes no lock, and you can start and stop it at any time.
On a terminal it updates the screen in place until Ctrl-C or the end of the space. In a pipe it prints one screen
after another.

Options:
  --interval SECONDS   time between two updates, over which rates are computed, 0.1 ... 60 (default 1)
  --once               print one update after one interval, then exit
  --json               print each update as one line of JSON

Examples:
  aether top
  aether top shop --interval 0.5
  aether top --once --json`

/** Moves to the upper left corner and clears the screen. */
const CLEAR = '\u001b[H\u001b[J'

/** `aether top`. */
export const topCommand: Command = {
  help,
  options: table,
  operands: ['space'],

  async run(args) {
    const { values, positionals } = parseOptions('top', args, table, 1)
    const intervalMs = 1000 * secondsOption('top', '--interval', values.interval, 0.1, 60)
    const name = chooseSpace('top', positionals[0])
    using space = attachTo(name, ObservedSpace.attach)
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    process.once('SIGINT', onSignal)
    process.once('SIGTERM', onSignal)
    try {
      await watch(space, intervalMs, stop.signal, values)
    } finally {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    }
    return ExitCode.Done
  },
}

async function watch(
  space: ObservedSpace,
  intervalMs: number,
  stop: AbortSignal,
  { once, json }: { readonly once: boolean; readonly json: boolean },
): Promise<void> {
  const screen = new Screen(process.stdout)
  // Rates need an earlier look. It also asks the members to start their journals.
  space.look()
  for (let first = true; ; first = false) {
    await sleep(intervalMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return
    const frame = space.look()
    if (json) process.stdout.write(`${JSON.stringify(frame)}\n`)
    else show(frame, screen, first, once)
    if (once || !frame.running) return
  }
}

function show(frame: Frame, screen: Screen, first: boolean, once: boolean): void {
  if (process.stdout.isTTY && !once) process.stdout.write(CLEAR)
  else if (!first) screen.line()
  showTop(frame, screen)
}

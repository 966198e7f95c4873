import { type Command, ExitCode, Screen, withTraceFile } from 'aether-dsm/internal/cli'
import { packageVersion } from 'aether-dsm/internal/native'
import { demoHelp, demoOptionTable, parseDemoOptions } from '../demo/demo-options.ts'
import { runDemo } from '../demo/demo-run.ts'

/** `aether demo`, which is `npm start`. */
export const demoCommand: Command = {
  help: demoHelp,
  options: demoOptionTable,

  async run(args) {
    const options = parseDemoOptions(args)
    const screen = new Screen(options.json ? undefined : process.stdout)
    screen.line(`Aether ${packageVersion()}: shared memory for Node.js`)
    const outcome = await withTraceFile('demo', options.trace, () => runDemo(options, screen))
    if (options.json) process.stdout.write(`${JSON.stringify(outcome, undefined, 2)}\n`)
    return outcome.right ? ExitCode.Done : ExitCode.Failed
  },
}

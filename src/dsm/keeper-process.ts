/**
 * A process that keeps a space: `node keeper-process.js NAME MILLISECONDS`. See keeping.ts.
 *
 * The keeper itself is a child of this process, which ends once the keeper is a member. So it is an orphan: what ends a
 * process with all its descendants, as pm2 does, does not find it.
 */
import { fork } from 'node:child_process'
import process from 'node:process'
import { keepSpace } from './keeping.ts'
import { open } from './space.ts'

const [, script = '', name = '', forMs = '', part] = process.argv
await (part === undefined ? start() : keep())

function start(): void {
  const keeper = fork(script, [name, forMs, 'keeper'], { detached: true, stdio: 'ignore' })
  keeper.once('message', () => process.exit(0))
  keeper.once('exit', (code) => process.exit(code ?? 1))
}

async function keep(): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  // The terminal of the process that started it may close.
  process.on('SIGHUP', () => {})
  const space = await open(name)
  const kept = keepSpace(space.membership, Number(forMs), stop.signal)
  // With a callback, since who started it may be gone.
  process.send?.('kept', () => process.connected && process.disconnect())
  await kept
  await space.close()
}

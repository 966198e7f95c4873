/** A process that keeps a space: `node keeper-process.js NAME MILLISECONDS`. See keeping.ts. */
import process from 'node:process'
import { keepSpace } from './keeping.ts'
import { open } from './space.ts'

const [name = '', forMs = ''] = process.argv.slice(2)
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
// The terminal of the process that started it may close.
process.on('SIGHUP', () => {})
const space = await open(name)
await keepSpace(space.membership, Number(forMs), stop.signal)
await space.close()

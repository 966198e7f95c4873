/**
 * Processes come, go and crash, and the others are told. Run it: node dist/examples/who-is-there.js
 *
 * It starts itself twice more. One of the two leaves in order, the other is killed in the middle.
 */
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'

await using space = await open('who-is-there')
await using region = await space.openRegion('words', { size: '4KiB' })

if (process.argv[2] === 'leave') {
  Atomics.store(region.int32, 0, 1)
} else if (process.argv[2] === 'stay') {
  await sleep(60_000) // the end of this module closes the space, so it has to wait here for its end
} else {
  const events = space.events()
  const child = (what: string) => fork(fileURLToPath(import.meta.url), [what])
  const next = async () => (await events.next()).value

  child('leave')
  console.log((await next())?.type) // prints joined
  console.log((await next())?.type) // prints left
  console.log(Atomics.load(region.int32, 0)) // prints 1

  const victim = child('stay')
  console.log((await next())?.type) // prints joined
  victim.kill('SIGKILL')
  const event = await next()
  console.log(event?.type) // prints died
  console.log(event?.member.processId === victim.pid) // prints true
}

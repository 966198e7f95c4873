/**
 * Membership events: processes join a space, leave it or die, and the other members are told. This program starts two
 * more processes of itself. One leaves properly, the other one is killed. Run it after `npm run build`:
 *
 *     node dist/examples/who-is-there.js
 *
 * It prints each event as it comes, and the number that the first process wrote before it left.
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
  await sleep(60_000) // the space is closed when this module ends, so wait here to be killed
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

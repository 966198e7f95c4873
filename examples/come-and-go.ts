/**
 * A group whose processes come and go. The first process makes it; others join by its name, are killed, and come back
 * under another rank. No launcher, and no fixed number. Run it after `npm run build`:
 *
 *     node dist/examples/come-and-go.js
 */
import { fork } from 'node:child_process'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type GroupEvent, join } from 'aether-dsm'

const [name = `come-and-go-${process.pid}`] = process.argv.slice(2)
await using group = await join({ name })

const addUp = async () => {
  await group.barrier() // all members agree on who they are
  return await group.allReduce(Int32Array.of(group.rank, 1), 'sum')
}

if (process.argv.length > 2) {
  await addUp()
  await sleep(60_000) // until it is killed
} else {
  const next = (type: GroupEvent['type']) =>
    new Promise<number>((resolve) => {
      const stop = group.onEvent((event) => {
        if (event.type !== type) return
        stop()
        resolve(event.rank)
      })
    })
  const comeAndGo = async () => {
    const joined = next('joined')
    const child = fork(fileURLToPath(import.meta.url), [name])
    const came = await joined
    const [ranks, members] = await addUp()
    const died = next('died')
    child.kill('SIGKILL')
    await addUp() // ends without the one that is dead
    return `${came} came, ${members} members with the sum ${ranks}, ${await died} went`
  }
  console.log(await comeAndGo()) // prints 1 came, 2 members with the sum 1, 1 went
  console.log(await comeAndGo()) // prints 2 came, 2 members with the sum 2, 2 went
  console.log((await addUp()).join(' ')) // prints 0 1
}

/**
 * A counter in memory that several processes share. This program starts three more processes of itself, and all four
 * open the same space. Each of the three adds 1 to the counter 100,000 times. Run it after `npm run build`:
 *
 *     node dist/examples/counter.js
 *
 * It prints the total, 300000. If you kill one of the processes while it counts, what it has added remains.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'

const times = 100_000

await using space = await open('example-counter')
await using region = await space.openRegion('hits', { size: '4KiB' })
const hits = region.view(Int32Array)

if (process.send === undefined) {
  const children = [1, 2, 3].map(() => fork(fileURLToPath(import.meta.url)))
  await Promise.all(children.map((child) => once(child, 'exit')))
  console.log(`${times} times 3: ${Atomics.load(hits, 0)}`) // prints 100000 times 3: 300000
} else {
  for (let i = 0; i < times; i += 1) Atomics.add(hits, 0, 1)
}

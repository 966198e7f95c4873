/**
 * A group to watch with `aether-dsm top` and `aether-dsm dashboard`: ranks that take pages of a region from each other.
 * The argument is how many seconds it runs, by default 2. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 4 dist/examples/moving-pages.js 600
 *
 * Every rank also adds to one counter. At the end rank 0 prints whether the counter has all these additions.
 */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'aether-dsm'

const pages = 4096
const pageBytes = 4096
/** Pages that a rank writes in each step. This strip moves through the region, and the rank reads its neighbour's. */
const strip = 24
const seconds = Number(process.argv[2] ?? 2)

await using group = await join()
const { rank, size } = group
await using region = await group.openRegion('waves', {
  size: pages * pageBytes,
  coherence: 'directory',
  placement: 'cyclic',
})

const word = new Uint8Array(8)
const end = Date.now() + 1000 * seconds
let steps = 0
for (; Date.now() < end; steps += 1) {
  const begin = (Math.floor((rank * pages) / size) + steps * 7) % pages
  for (let index = 0; index < strip; index += 1) {
    const page = (begin + index) % pages
    await region.write(page * pageBytes + 2048, word.fill(steps))
    const read = (page + pages - Math.floor(pages / size)) % pages
    await region.read(read * pageBytes + 2048, word)
  }
  // Every rank writes page 0, so it moves most often: follow it on the dashboard.
  await region.fetchAdd(0, 1n)
  await sleep(20)
}

await region.fetchAdd(8, BigInt(steps))
await group.barrier()
const [counted, taken] = await region.read(0, new BigUint64Array(2))
await group.barrier()
// prints [0] no step was lost
if (rank === 0) console.log(counted === taken ? 'no step was lost' : `${taken} steps, ${counted} counted`)

/**
 * Something to look at with `aether top` and `aether dashboard`: ranks that hand pages of a region around, until they are stopped.
 *
 *     node dist/src/cli/main.js run -n 4 dist/examples/moving-pages.js
 */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'aether-dsm'

const PAGES = 4096
const PAGE_BYTES = 4096
/** Each rank writes a strip that moves through the region, and reads what the rank before it wrote. */
const STRIP = 24

await using group = await join()
await using region = await group.openRegion('waves', {
  size: PAGES * PAGE_BYTES,
  coherence: 'directory',
  pageSize: PAGE_BYTES,
  placement: 'cyclic',
})
const { rank, size } = group
const word = new Uint8Array(8)
const seconds = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const end = Date.now() + 1000 * seconds

for (let step = 0; Date.now() < end; step++) {
  const begin = (Math.floor((rank * PAGES) / size) + step * 7) % PAGES
  for (let index = 0; index < STRIP; index++) {
    const page = (begin + index) % PAGES
    await region.write(page * PAGE_BYTES, word.fill(step))
    const read = (begin + index + PAGES - Math.floor(PAGES / size)) % PAGES
    await region.read(read * PAGE_BYTES, word)
  }
  // One page that everybody wants to write: it is worth following.
  await region.fetchAdd(0, 1n)
  await sleep(20)
}
await group.barrier()

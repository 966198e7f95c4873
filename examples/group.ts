/**
 * Ranks that compute together: each sums a part of a series into its slot of a region, then all meet at a barrier and
 * rank 0 adds up. Every rank has memory of its own; pages move to whoever needs them, and the program does not notice.
 *
 *     node dist/src/cli/main.js run -n 4 dist/examples/group.js
 */
import { join } from 'aether-dsm'

const terms = 4_000_000
const pageBytes = 4096

await using group = await join()
// A page a rank: two that write to one page would take it from each other all the time.
await using region = await group.openRegion('sums', { size: group.size * pageBytes, coherence: 'mesi' })
const sums = region.float64
const slot = (rank: number) => (rank * pageBytes) / Float64Array.BYTES_PER_ELEMENT

// Leibniz: pi = 4 - 4/3 + 4/5 - 4/7 + …
let sum = 0
for (let k = group.rank; k < terms; k += group.size) sum += (k % 2 === 0 ? 4 : -4) / (2 * k + 1)
sums[slot(group.rank)] = sum

await group.barrier()
if (group.rank === 0) {
  const pi = Array.from({ length: group.size }, (_, rank) => sums[slot(rank)] ?? 0).reduce((a, b) => a + b)
  console.log(`${group.size} ranks: pi is about ${pi.toFixed(5)}`) // prints [0] 4 ranks: pi is about 3.14159
}
// Nobody leaves while rank 0 may still read what it has.
await group.barrier()

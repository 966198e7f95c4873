/**
 * PageRank of a small web by products with a sparse matrix. Run it after `npm run build`:
 *
 *     node dist/examples/arrays/page-rank.js
 *
 * It prints the page of the highest rank, and whether plain loops give the same ranks.
 */
import { openArrays } from 'aether-dsm/arrays'

const [pages, rounds, damping] = [50, 40, 0.85]
/** Page i links to 2i, 3i and to page 0. */
const links = Array.from({ length: pages }, (_, from) => [(2 * from) % pages, (3 * from) % pages, 0])

const xp = await openArrays()
const rows = links.flat()
const columns = links.flatMap((targets, from) => targets.map(() => from))
const shares = links.flatMap((targets) => targets.map(() => 1 / targets.length))
const web = xp.sparse.fromTriplets(
  xp.asarray(rows, { dtype: xp.int64 }),
  xp.asarray(columns, { dtype: xp.int64 }),
  xp.asarray(shares),
  [pages, pages],
)
let ranks = xp.full([pages], 1 / pages)
for (let round = 0; round < rounds; round += 1) {
  ranks = xp.sparse
    .matmul(web, ranks)
    .multiply(damping)
    .add((1 - damping) / pages)
}

let plain = new Array<number>(pages).fill(1 / pages)
for (let round = 0; round < rounds; round += 1) {
  const next = new Array<number>(pages).fill((1 - damping) / pages)
  for (const [from, targets] of links.entries()) {
    for (const to of targets) next[to]! += (damping * plain[from]!) / targets.length
  }
  plain = next
}
const difference = ranks.subtract(xp.asarray(plain)).abs().max().item() as number
console.log(xp.argmax(ranks).item(), difference < 1e-14) // prints 0n true

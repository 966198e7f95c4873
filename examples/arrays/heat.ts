/**
 * Heat that spreads along a rod, in parts over the ranks of a group. Each step needs the neighbours of every element,
 * of which only those at the ends of a part come from another rank. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 2 dist/examples/arrays/heat.js
 *
 * Rank 0 prints whether a plain loop over one typed array gives the same.
 */
import { join } from 'aether-dsm'
import { openArrays } from 'aether-dsm/arrays'

const length = 1000
const steps = 50
const rate = 0.25

await using group = await join()
const xp = await openArrays(group)

const start = xp.zeros(length, { partition: 'block' })
start.setAt('400:600', 1)
let rod = start
for (let step = 0; step < steps; step += 1)
  rod = xp.stencil(rod, 1, (part) => {
    const [left, middle, right] = [part.slice(':-2'), part.slice('1:-1'), part.slice('2:')]
    return middle.add(left.subtract(middle.multiply(2)).add(right).multiply(rate))
  })
const result = rod.toTypedArray()

const plain = new Float64Array(length).fill(1, 400, 600)
for (let step = 0; step < steps; step += 1) {
  const before = plain.slice()
  for (let at = 1; at < length - 1; at += 1) {
    const middle = before[at]!
    plain[at] = middle + (before[at - 1]! - middle * 2 + before[at + 1]!) * rate
  }
}
const isSame = plain.every((value, at) => value === result[at])
if (group.rank === 0) console.log(isSame, xp.moved.bytes > 0) // prints [0] true true
await xp.close()

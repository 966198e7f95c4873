/**
 * Two ranks that count side by side in one page, what the adviser says of it, and the same with a page for each rank.
 * `--report` tells all of it, with figures.
 *
 *     node dist/src/cli/main.js run -n 2 dist/examples/false-sharing.js --report
 */
import process from 'node:process'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { type Advice, adviceText, join } from 'aether-dsm'

const pageBytes = 4096
/** So many times as there is nothing to be seen yet: how fast ranks take turns is the machine's affair. */
const rounds = 300
const steps = 200

await using group = await join()
const { rank, size } = group

/**
 * Every rank adds to a counter of its own, `strideBytes` from that of the next, until `isEnough`. Gives the advice, and
 * how often a page was taken away from a rank for each thousand additions.
 */
async function count(name: string, strideBytes: number, isEnough: (advice: Advice) => boolean) {
  await using region = await group.openRegion(name, { coherence: 'directory', size: size * pageBytes, advise: true })
  let done = 0
  for (let round = 0; round < rounds; round += 1) {
    await group.barrier()
    for (let step = 0; step < steps; step += 1, done += 1) {
      await region.fetchAdd(rank * strideBytes, 1n)
      await othersTurn()
    }
    await group.barrier()
    // All ask, and all hear the same, since nobody writes now.
    if (isEnough(await region.advice())) break
  }
  const figures = group
    .profile()
    .counters()
    .find(({ label, name: of }) => of === 'dsm.pages' && label === name)
  const advice = await region.advice()
  await group.barrier()
  return { advice, taken: (1000 * (figures?.values['invalidations'] ?? 0)) / done }
}

const bad = await count(
  'side-by-side',
  64,
  ({ pages }) => pages[0]?.writers.length === size && pages[0].kind !== 'unclear',
)
const mended = await count('a-page-each', pageBytes, () => true)

if (rank === 0) {
  const [page] = bad.advice.pages
  console.log(page?.kind) // prints [0] false-sharing
  console.log(page?.writers.map(({ ranges }) => ranges[0]?.begin)) // prints [0] [ 0, 64 ]
  console.log(page?.remedy.split(',')[0]) // prints [0] pad to 4 KiB
  console.log(mended.advice.pages.length) // prints [0] 0
  console.log(bad.taken > 10 * mended.taken) // prints [0] true
  if (process.argv.includes('--report')) {
    console.log(`${adviceText(bad.advice)}\n${adviceText(mended.advice)}`)
    console.log(`taken away from rank 0, of 1,000 additions: ${bad.taken.toFixed(1)}, then ${mended.taken.toFixed(1)}`)
  }
}
await group.barrier()

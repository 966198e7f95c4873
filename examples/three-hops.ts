/**
 * A write that takes three hops, to look at in a trace. Rank 0 writes a page whose home is rank 1 and that rank 2 wrote
 * last. So rank 0 asks rank 1, which forwards the request to rank 2, which sends the page to rank 0. Run it after
 * `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 3 --trace three-hops.trace.json dist/examples/three-hops.js
 *
 * Rank 0 prints the words of both ranks. Open the file in https://ui.perfetto.dev to see the messages.
 */
import { join } from 'aether-dsm'

await using group = await join()
const region = await group.openRegion('hits', { size: 4096, coherence: 'mesi', placement: () => 1 })
const text = new TextEncoder()

if (group.rank === 2) await region.write(0, text.encode('plugh'))
await group.barrier()
if (group.rank === 0) {
  await region.write(5, text.encode(' xyzzy'))
  const bytes = await region.read(0, new Uint8Array(11))
  console.log(new TextDecoder().decode(bytes)) // prints [0] plugh xyzzy
}
await group.barrier()

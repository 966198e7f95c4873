/** A process that opens a store and reads one value: `node opener-process.js JSON`, where the JSON is a `StorePlan`. */
import process from 'node:process'
import { AetherError, native } from 'aether-dsm/internal/native'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import { loadStore, openKeptStore, type StorePlan } from './kept-store.ts'
import { keyName } from './measured-store.ts'
import type { FromOpener } from './opening.ts'

async function run(plan: StorePlan): Promise<FromOpener> {
  await loadStore(plan.store)
  const began = native.monotonicNs()
  const store = await openKeptStore(plan)
  const value = store.operations(new Uint8Array(1)).get(keyName(0))
  const ns = native.monotonicNs() - began
  await store.close()
  if (value instanceof Uint8Array) return { kind: 'opened', ns }
  throw new AetherError('ERR_AETHER_BENCH', `${plan.store} on ${plan.place} has lost what was in it`)
}

endWithParent()
const answer = await run(JSON.parse(process.argv[2]!) as StorePlan).catch(
  (error: unknown): FromOpener => ({ kind: 'failed', why: whyOf(error) }),
)
process.send?.(answer, () => process.exit(0))

import { redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { ClientCrew } from './client-crew.ts'
import { IndexNodes } from './index-nodes.ts'
import { timedRow } from './index-row.ts'
import type { KeysName } from './key-store.ts'
import type { SectionPlan } from './section.ts'
import { startRedis } from './single.ts'
import { isOrdered, type MixName, RECORD_BYTES } from './ycsb.ts'

const RECORDS_MAX = 10_000
/** E last, as it has records of its own; D before, as it adds some. */
const order: readonly MixName[] = ['a', 'b', 'c', 'f', 'd', 'e']
/** Records that clients add have numbers from here on, as far apart as that. */
const NEW_APART = 2 ** 22

/** The workloads of YCSB, by the same program for each store. */
export async function benchMixed(plan: SectionPlan): Promise<void> {
  using scratch = new ScratchDirectory()
  await using nodes = await IndexNodes.start({ replicas: 1 })
  const place = { name: nodes.name, directory: scratch.path }
  await using server = await startRedis(plan, place)
  await using crew = await ClientCrew.start(Math.max(...plan.clients), place)
  await benchStore(plan, crew, 'aether', 'aether')
  if (server !== undefined)
    await unlessMissing('Redis', plan.onMissing, () => benchStore(plan, crew, 'Redis', redisProvider()))
}

async function benchStore(plan: SectionPlan, crew: ClientCrew, store: KeysName, provider: string): Promise<void> {
  const records = Math.min(plan.keys, RECORDS_MAX)
  let uses = 0
  for (const mix of order) {
    const isFirst = order.findIndex((each) => isOrdered(each) === isOrdered(mix)) === order.indexOf(mix)
    if (isFirst) await crew.fill(store, { kind: 'mix', mix, records })
    for (const clients of plan.clients) {
      const workOf = () => {
        uses += 1
        return { kind: 'mix', plan: { mix, records, firstNew: uses * NEW_APART } } as const
      }
      const [runs] = await crew.measure(clients, [store], workOf, plan.timeMs)
      plan.keep(timedRow({ op: `ycsb-${mix}`, provider, bytes: RECORD_BYTES, clients }, runs!))
    }
  }
}

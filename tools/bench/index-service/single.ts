import { packageVersion } from '../peers/optional-package.ts'
import { RedisServer, redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { ClientCrew } from './client-crew.ts'
import type { KeyOp } from './client-orders.ts'
import { IndexNodes } from './index-nodes.ts'
import { timedRow } from './index-row.ts'
import type { KeysName, KeysPlace } from './key-store.ts'
import type { SectionPlan } from './section.ts'

const COUNTER_BYTES = 8
/** Of a field, and of each value of a range. */
const SMALL_BYTES = 100

const doers: Readonly<Record<KeyOp, readonly KeysName[]>> = {
  get: ['aether', 'structures', 'lmdb', 'Redis'],
  set: ['aether', 'lmdb', 'Redis'],
  increment: ['aether', 'Redis'],
  'hash get': ['aether', 'Redis'],
  'range 100': ['aether', 'Redis'],
}

/** The store is there, with the name that rows have of it. */
interface PresentStore {
  readonly name: KeysName
  readonly provider: string
}

/** Single operations: of one client all stores take turns in its process; several clients have one store at a time. */
export async function benchSingle(plan: SectionPlan): Promise<void> {
  using scratch = new ScratchDirectory()
  await using nodes = await IndexNodes.start({ replicas: 1 })
  const place: KeysPlace = { name: nodes.name, directory: scratch.path }
  await using _server = await startRedis(plan, place)
  await using crew = await ClientCrew.start(Math.max(...plan.clients), place)
  const present: PresentStore[] = [
    { name: 'aether', provider: 'aether' },
    { name: 'structures', provider: 'structures' },
    ...(plan.peers.includes('lmdb')
      ? [{ name: 'lmdb', provider: `lmdb ${packageVersion('lmdb')}`.trimEnd() } as const]
      : []),
    ...(_server === undefined ? [] : [{ name: 'Redis', provider: redisProvider() } as const]),
  ]
  const run = new SingleRun(plan, crew, present)
  for (const bytes of plan.sizes) for (const op of ['get', 'set'] as const) await run.measure(op, bytes)
  await run.measure('increment', COUNTER_BYTES)
  for (const op of ['hash get', 'range 100'] as const) await run.measure(op, SMALL_BYTES)
}

/** Undefined where it is not asked for, or not here, which is told. */
export async function startRedis(plan: SectionPlan, { directory }: KeysPlace): Promise<RedisServer | undefined> {
  if (!plan.peers.includes('Redis')) return undefined
  return await unlessMissing('Redis', plan.onMissing, () => RedisServer.start(directory))
}

class SingleRun {
  readonly #plan: SectionPlan
  readonly #crew: ClientCrew
  #present: readonly PresentStore[]

  constructor(plan: SectionPlan, crew: ClientCrew, present: readonly PresentStore[]) {
    this.#plan = plan
    this.#crew = crew
    this.#present = present
  }

  async measure(op: KeyOp, bytes: number): Promise<void> {
    for (const { name } of this.#doing(op)) await this.#fill(name, op, bytes)
    const some = this.#doing(op)
    for (const clients of this.#plan.clients) {
      if (clients === 1) await this.#measureTogether(some, op, bytes, 1)
      else for (const store of some) await this.#measureTogether([store], op, bytes, clients)
    }
  }

  async #measureTogether(some: readonly PresentStore[], op: KeyOp, bytes: number, clients: number): Promise<void> {
    const names = some.map(({ name }) => name)
    const timeMs = this.#plan.timeMs
    const found = await this.#crew.measure(clients, names, () => ({ kind: 'op', op, bytes }), timeMs)
    for (const [which, { provider }] of some.entries())
      this.#plan.keep(timedRow({ op, provider, bytes, clients }, found[which]!))
  }

  /** A package that is not installed is told of once. */
  async #fill(name: KeysName, op: KeyOp, bytes: number): Promise<void> {
    const fill = (): Promise<true> => this.#crew.fill(name, { kind: 'op', op, bytes }).then(() => true)
    if (name === 'aether' || name === 'structures') return void (await fill())
    const filled = await unlessMissing(name, this.#plan.onMissing, fill)
    if (filled !== true) this.#present = this.#present.filter((each) => each.name !== name)
  }

  #doing(op: KeyOp): readonly PresentStore[] {
    return this.#present.filter(({ name }) => doers[op].includes(name))
  }
}

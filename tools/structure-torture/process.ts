/**
 * One process of a torture of structures: `node process.js PLAN`, with PLAN a {@link StructurePlan} as JSON. It goes on
 * until it is told to stop, or killed.
 */
import process from 'node:process'
import type { Structures } from 'aether-dsm/internal/structures'
import { Judge, progressOf, usedBytes } from './judge.ts'
import { type OpenJournal, type OpenPlace, openGroup, openMachine, openMachineJournal } from './place.ts'
import type { StructureFate, StructureMemory, StructureOrder, StructurePlan, StructureReply } from './plan.ts'
import { regroup } from './regroup.ts'
import { Workman } from './worker.ts'

const plan = JSON.parse(process.argv[2]!) as StructurePlan
// The process that started this one is gone.
const orphaned = (): never => process.exit(1)
process.once('disconnect', orphaned)

/** Orders in the order of arrival. Orders that arrive early are kept. */
class Orders {
  readonly #listeners: ((order: StructureOrder) => void)[] = []
  readonly #early: StructureOrder[] = []

  constructor() {
    process.on('message', (order: StructureOrder) => {
      this.#early.push(order)
      for (const listener of this.#listeners) listener(order)
    })
  }

  on(listener: (order: StructureOrder) => void): void {
    for (const order of this.#early) listener(order)
    this.#listeners.push(listener)
  }

  wait<Type extends StructureOrder['type']>(type: Type): Promise<Extract<StructureOrder, { readonly type: Type }>> {
    return new Promise((resolve) =>
      this.on((order) => order.type === type && resolve(order as Extract<StructureOrder, { readonly type: Type }>)),
    )
  }
}

function say(reply: StructureReply): void {
  process.send?.(reply)
}

async function work<Shared>({ shared, subjects, journal }: OpenPlace<Shared>, orders: Orders): Promise<void> {
  const workman = new Workman(plan, shared, subjects, journal)
  void orders.wait('stop').then(() => workman.stop())
  await workman.begin()
  say({ type: 'ready' })
  await workman.run()
  say({ type: 'done' })
  await orders.wait('leave')
}

/** `weigh`: what memory is in use when everything was taken out. */
async function judge<Shared>(
  place: OpenPlace<Shared>,
  orders: Orders,
  weigh: (shared: Shared) => Promise<StructureMemory | null>,
): Promise<void> {
  await judgeOf(place).prepare()
  tellProgress(place, orders)
  say({ type: 'ready' })
  await sayVerdict(place, (await orders.wait('judge')).fates, weigh)
  await orders.wait('leave')
}

/** All processes of the space are killed at once: the judge makes it, and comes back in the end. */
async function judgeDirectory(orders: Orders): Promise<void> {
  {
    await using place = await openMachine(plan, 'torture')
    await judgeOf(place).prepare()
  }
  await using journal = await openMachineJournal(plan)
  tellProgress(journal, orders)
  say({ type: 'ready' })
  const { fates } = await orders.wait('judge')
  await using place = await openMachine(plan, 'torture')
  await sayVerdict(place, fates, weigh)
  await orders.wait('leave')
}

function judgeOf<Shared>({ shared, subjects, journal }: OpenPlace<Shared>): Judge<Shared> {
  return new Judge(shared, subjects, journal)
}

function tellProgress<Shared>(journal: OpenJournal<Shared>, orders: Orders): void {
  orders.on((order) => {
    if (order.type === 'progress') say({ type: 'progress', progress: progressOf(journal, order.processes) })
  })
}

async function sayVerdict<Shared>(
  place: OpenPlace<Shared>,
  fates: readonly StructureFate[],
  weigh: (shared: Shared) => Promise<StructureMemory | null>,
): Promise<void> {
  const judge = judgeOf(place)
  const verdicts = await judge.judge(fates)
  const wrong = await judge.empty()
  const memory = wrong.length === 0 ? await weigh(place.shared) : null
  const last = { structure: 'memory', operations: 0, refused: 0, cutShort: 0, ages: [], wrong }
  say({ type: 'verdict', verdicts: [...verdicts, last], memory })
}

async function weigh(shared: Structures): Promise<StructureMemory> {
  return { usedBytes: usedBytes(shared), freshBytes: await freshBytes() }
}

/** How much memory the same contents take in a space without kills. */
async function freshBytes(): Promise<number> {
  await using fresh = await openMachine(plan, 'torture-fresh')
  const judge = new Judge(fresh.shared, fresh.subjects, fresh.journal)
  await judge.prepare()
  const [wrong] = await judge.empty()
  if (wrong !== undefined) throw new Error(`in a space of one process ${wrong}`)
  return usedBytes(fresh.shared)
}

async function workInGroup(orders: Orders): Promise<void> {
  await using place = await openGroup(plan)
  if (plan.role === 'judge') await judge(place, orders, async () => null)
  else await work(place, orders)
}

const orders = new Orders()
if (plan.place === 'directory' && plan.role === 'judge') await judgeDirectory(orders)
else if (plan.place === 'machine' || plan.place === 'directory') {
  await using place = await openMachine(plan, 'torture')
  if (plan.role === 'judge') await judge(place, orders, weigh)
  else await work(place, orders)
} else {
  await workInGroup(orders)
  const { regroup: place } = await orders.wait('leave')
  if (place !== undefined) say({ type: 'regrouped', found: await regroup(place, plan.leaseMs) })
}
process.off('disconnect', orphaned)
process.disconnect()

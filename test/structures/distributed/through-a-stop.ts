import type { SimulationOptions } from '../../../src/providers/index.ts'
import type { FakeWorld } from './fake-world.ts'
import type { SimulatedWorld } from './simulated-world.ts'

/**
 * Ranks of a world whose clients are played through a stop: one that ends, one that is paused, and one to which nothing
 * happens.
 */
export const RANKS = 3
export const ENDS = 1
const PAUSED = 2

/** What networks and adapters do when they are at their worst but work. */
export const rough: SimulationOptions = {
  network: { loss: 0.01, duplicate: 0.01, tail: 0.05, tailNs: 50_000 },
  adapter: { tear: 0.3, earlyAcknowledge: 0.3, completionNs: 2000, lostWakeups: 0.05 },
}

/** Begins what the clients of a rank do. */
type Begin = (rank: number) => readonly Promise<unknown>[]

/**
 * Play clients while one rank is stopped after fewer than `stepsMax` of its steps (undefined: it is not), and another
 * is paused for a while; until all clients of ranks that live are done.
 */
export async function playThroughAStop(world: FakeWorld, stepsMax: number | undefined, begin: Begin): Promise<void> {
  const [living, ended] = [world.ranks[0]!, world.ranks[ENDS]!]
  if (stepsMax !== undefined) ended.stepsLeft = world.random.below(stepsMax)
  const clients = beginAll(begin, stepsMax !== undefined)
  void living.sleep(world.random.below(40) / 1000).then(() => world.paused.add(PAUSED))
  void living.sleep(0.1).then(() => world.paused.delete(PAUSED))
  await world.play(clients)
}

/** Let what the rank that was stopped has left be settled. */
export async function settleTheStop(world: FakeWorld): Promise<void> {
  world.stop(ENDS)
  await world.play(world.ranks[0]!.sleep(1))
}

/** Ranks that go on after the stop. */
export const LEFT: readonly number[] = [0, PAUSED]

/**
 * The same over simulated adapters: by the seed a rank crashes after `afterNs` of virtual time, or one is paused then
 * for `pauseNs`, or nothing happens.
 */
export async function playThroughACrash(
  world: SimulatedWorld,
  seed: number,
  begin: Begin,
  { afterNs = 5000 + seed * 500, pauseNs = 40_000 }: { readonly afterNs?: number; readonly pauseNs?: number } = {},
): Promise<void> {
  const atNs = world.cluster.nowNs + afterNs
  const crashes = seed % 3 === 0
  if (crashes) world.crash(ENDS, atNs)
  if (seed % 3 === 1) world.cluster.inject({ kind: 'pause', host: PAUSED, atNs, forNs: pauseNs })
  await world.play(beginAll(begin, crashes))
}

/** Resolves when all clients are done: without those of the rank that ends, which never return until the world ends. */
async function beginAll(begin: Begin, oneEnds: boolean): Promise<void> {
  const all = Array.from({ length: RANKS }, (_, rank) => begin(rank))
  for (const client of all.flat()) client.catch(() => {})
  await Promise.all(all.filter((_, rank) => !oneEnds || rank !== ENDS).flat())
}

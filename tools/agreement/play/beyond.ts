import { Convert, Silent } from '../byzantine/liars.ts'
import type { Algorithm, Setting } from '../model/algorithm.ts'
import { isOver, violationOf } from './judge.ts'
import { playSchedule, type Schedule } from './schedule.ts'
import { nextDue } from './timely.ts'
import type { AgreementWorld, WorldEvent } from './world.ts'

/** An order in which one more fails than an algorithm withstands. */
export interface Beyond extends Schedule {
  /** Either it waits for ever, or it is set up to go on with fewer, and two processes decide differently. */
  readonly shows: 'no decision' | 'two decisions'
}

const inputs = ['a', 'b', 'c', 'd']
const leads = (leader: number, ...processes: number[]) =>
  processes.map((process) => ({ do: 'lead', process, leader }) as const)

/** Half of the memories crash, or are slow. */
const halfOfTheMemories: readonly Beyond[] = [
  {
    name: 'half of the memories crash',
    shows: 'no decision',
    setting: { processes: 2, memories: 2 },
    inputs,
    steps: [{ do: 'crash-memory', memory: 1 }],
  },
  {
    name: 'half of the memories is enough, and each process reaches another half',
    shows: 'two decisions',
    setting: { processes: 2, memories: 2, quorum: 1 },
    inputs,
    steps: [
      { do: 'among', processes: [0], memories: [0] },
      ...leads(1, 1),
      { do: 'among', processes: [1], memories: [1] },
    ],
  },
]

/** Half of the processes lie: they agree with one that is correct, deny all of it, and agree with another. */
function halfOfTheProcessesLie({ create }: Algorithm): readonly Beyond[] {
  const convert = (me: number) => (setting: Setting) => new Convert(() => create(me, setting), ['a', 'b'], [2])
  return [
    {
      name: 'one of two processes is silent',
      shows: 'no decision',
      setting: { processes: 2, memories: 1 },
      inputs,
      // A leader that is not may decide alone.
      others: { 0: () => new Silent() },
      steps: leads(1, 1),
    },
    {
      name: 'half of the processes is enough, and half of them lie',
      shows: 'two decisions',
      setting: { processes: 4, memories: 1, quorum: 2 },
      inputs,
      others: { 0: convert(0), 1: convert(1) },
      steps: [
        { do: 'among', processes: [0, 1, 2], memories: [0] },
        ...leads(0, 0, 1),
        { do: 'among', processes: [0, 1], memories: [0], delays: 200 },
        { do: 'among', processes: [0, 1, 3], memories: [0] },
      ],
    },
  ]
}

const halfOfTheMemoriesCrash: Beyond = {
  name: 'half of the memories crash',
  shows: 'no decision',
  setting: { processes: 3, memories: 2 },
  inputs,
  steps: [{ do: 'crash-memory', memory: 1 }],
}

/** A liar agrees with one at one memory, and with another at another. */
const liarAtEachMemory = ({ create }: Algorithm): Beyond => ({
  name: 'half of the memories is enough, and a liar has another face at each half',
  shows: 'two decisions',
  setting: { processes: 3, memories: 2, memoryQuorum: 1 },
  inputs,
  others: { 0: (setting) => new Convert(() => create(0, setting), ['a', 'b'], []) },
  steps: [
    { do: 'among', processes: [0, 1], memories: [0] },
    ...leads(0, 0),
    { do: 'among', processes: [0, 2], memories: [1] },
  ],
})

/** No one lies: the leader decides at one memory, and the others agree at the other. */
const leaderAtAMemory: Beyond = {
  name: 'half of the memories is enough, and the leader reaches another half than the others',
  shows: 'two decisions',
  setting: { processes: 3, memories: 2, memoryQuorum: 1 },
  inputs,
  steps: [
    { do: 'among', processes: [0], memories: [0] },
    ...leads(1, 1, 2),
    { do: 'among', processes: [1, 2], memories: [1] },
  ],
}

/** What each algorithm does on the other side of its bound, by name. */
const byName: Readonly<Record<string, (algorithm: Algorithm) => readonly Beyond[]>> = {
  paxos: () => [
    {
      name: 'half of the processes crash',
      shows: 'no decision',
      setting: { processes: 2, memories: 0 },
      inputs,
      steps: [{ do: 'crash', process: 1 }],
    },
    {
      name: 'half of the processes is enough, and messages between the halves are slow',
      shows: 'two decisions',
      setting: { processes: 2, memories: 0, quorum: 1 },
      inputs,
      steps: [{ do: 'among', processes: [0], memories: [] }, { do: 'begin', process: 1 }, ...leads(1, 1)],
    },
  ],
  'disk-paxos': () => halfOfTheMemories,
  'protected-memory-paxos': () => halfOfTheMemories,
  'aligned-paxos': () => [
    {
      name: 'half of all crash: a process and a memory',
      shows: 'no decision',
      setting: { processes: 2, memories: 2 },
      inputs,
      steps: [
        { do: 'crash', process: 1 },
        { do: 'crash-memory', memory: 1 },
      ],
    },
    {
      name: 'half of all is enough: a process with a memory, and the others',
      shows: 'two decisions',
      setting: { processes: 2, memories: 2, quorum: 2 },
      inputs,
      steps: [
        { do: 'among', processes: [0], memories: [0] },
        { do: 'begin', process: 1 },
        ...leads(1, 1),
        { do: 'among', processes: [1], memories: [1] },
      ],
    },
  ],
  'non-equivocating-broadcast': (algorithm) => [
    ...halfOfTheProcessesLie(algorithm),
    halfOfTheMemoriesCrash,
    liarAtEachMemory(algorithm),
  ],
  'robust-backup': (algorithm) => [
    ...halfOfTheProcessesLie(algorithm),
    halfOfTheMemoriesCrash,
    liarAtEachMemory(algorithm),
  ],
  'fast-and-robust': (algorithm) => [...halfOfTheProcessesLie(algorithm), halfOfTheMemoriesCrash, leaderAtAMemory],
}

/** The orders that break an algorithm on the other side of its bound. */
export const beyondOf = (algorithm: Algorithm): readonly Beyond[] => byName[algorithm.name]?.(algorithm) ?? []

export interface BeyondOutcome {
  readonly world: AgreementWorld
  /** Two that decide differently, if there are. */
  readonly violation: string | undefined
  /** Nothing more can happen, or it repeats itself for ever, and not all have decided. */
  readonly isStuck: boolean
}

/** Plays such an order. After that everything is timely. */
export function playBeyond(algorithm: Algorithm, beyond: Beyond, watch?: (event: WorldEvent) => void): BeyondOutcome {
  const world = playSchedule(algorithm, beyond, watch)
  return { world, isStuck: playUntilStuck(world), violation: violationOf(world) }
}

/** How long it plays on until it repeats itself, in delays. */
const REPEATS_MAX = 500

/** Plays on in time until all have decided, or until it is certain that not all ever will. */
function playUntilStuck(world: AgreementWorld): boolean {
  const seen = new Set<string>()
  const end = world.now + REPEATS_MAX
  while (!isOver(world) && world.now < end) {
    const { action, at } = nextDue(world)
    if (action === undefined) return true
    if (at > world.now) {
      const state = stateOf(world)
      if (state !== undefined && seen.has(state)) return true
      if (state !== undefined) seen.add(state)
    }
    world.now = Math.max(world.now, at)
    world.perform(action)
  }
  return false
}

/** What matters of a world for what comes next, where only timers are under way; else undefined. */
function stateOf({
  processes,
  memories,
  messages,
  operations,
  answers,
  timers,
  now,
}: AgreementWorld): string | undefined {
  if (messages.length > 0 || [...operations, ...answers].some(({ length }) => length > 0)) return undefined
  const due = timers.map(({ process, tag, at }) => [process, tag, at - now])
  // How many operations were begun names their answers, and nothing else.
  return JSON.stringify([processes, memories, due]).replaceAll(/"serial":\d+/g, '')
}

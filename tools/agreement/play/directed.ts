import { Puppet } from '../byzantine/liars.ts'
import type { Algorithm } from '../model/algorithm.ts'
import type { Schedule } from './schedule.ts'
import type { Action } from './world.ts'

const operation = (process: number, memory: number): Action[] => [
  { do: 'execute', process, memory },
  { do: 'answer', process, memory },
]

/**
 * Process 0 has a majority of promises, and still has to take the permission at memory 2. There process 1 decides with
 * a higher ballot. Then process 0 takes the permission.
 */
const permissionTakenBack: Schedule = {
  name: 'permission taken back at a memory that has not promised',
  setting: { processes: 2, memories: 3 },
  inputs: ['a', 'b'],
  steps: [
    { do: 'begin', process: 0 },
    { do: 'begin', process: 1 },
    { do: 'lead', process: 1, leader: 1 },
    { do: 'among', processes: [1], memories: [2] },
    // Memory 2 refuses the write of process 0, which begins a ballot that is lower than that of process 1.
    ...operation(0, 2),
    { do: 'timer', timer: 0 },
    { do: 'among', processes: [0], memories: [0] },
    // At memory 1 its first write, and then the permission, the ballot and the slots.
    ...[0, 1, 2, 3].flatMap(() => operation(0, 1)),
    { do: 'among', processes: [1], memories: [1, 2] },
    { do: 'among', processes: [0], memories: [0, 2] },
  ],
}

const shows = (delays: number, ...processes: number[]) => ({ do: 'among', processes, memories: [0], delays }) as const
const turn: Action = { do: 'lead', process: 0, leader: 0 }

/** The sender shows one face to process 1, and another to process 2. Neither looks while the other's face is shown. */
const twoStories = ({ create }: Algorithm): Schedule => ({
  name: 'a sender that tells each process another story',
  setting: { processes: 3, memories: 1 },
  inputs: ['a', 'b', 'c'],
  others: { 0: (setting) => new Puppet(() => create(0, setting), ['a', 'b'], [2, 1]) },
  steps: [
    shows(3, 0),
    // Process 1 copies what it is shown, and proves that a majority has.
    shows(10, 1),
    turn,
    shows(3, 0),
    shows(12, 2),
    shows(12, 0),
    shows(12, 2),
    turn,
    shows(3, 0),
    shows(12, 1),
    turn,
    shows(3, 0),
    shows(12, 2),
  ],
})

/** Orders within the bound that were thought out to show a mistake, which orders that are drawn hardly ever do. */
export function directedOf(algorithm: Algorithm): readonly Schedule[] {
  if (algorithm.name === 'protected-memory-paxos') return [permissionTakenBack]
  return algorithm.name === 'non-equivocating-broadcast' ? [twoStories(algorithm)] : []
}

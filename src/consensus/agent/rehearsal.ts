import { Random, Timers } from '../../runtime/index.ts'
import { foundingConfiguration } from '../replica/configuration.ts'
import { Replica } from '../replica/replica.ts'
import type { Protocol } from '../replica/rights.ts'
import { defaultSettings, type ReplicaSettings } from '../replica/settings.ts'

/** Leaders that follow on each other. With a few, most of what runs has seen the objects that it meets. */
const LEADERS = 4
const TURNS_MAX = 1000
const TICK_NS = 1_000_000
/** Of little memory, so that no garbage is looked for. */
const SETTINGS: ReplicaSettings = { ...defaultSettings, cellBytes: 512, frames: 4, historyBytes: 65_536 }
const COMMAND = new Uint8Array(64)

/**
 * Three replicas of this thread alone lose their leader, and the two others change places, in a time of their own. So
 * what runs at a death has run before. Code that runs for the first time is compiled first, while all wait for it.
 * @returns how many of them have led
 */
export function rehearse(device: string, protocol: Protocol): number {
  const timers = new Timers()
  const random = new Random(1)
  const replicas = new Map<number, Replica>()
  const founding = foundingConfiguration([1, 2, 3])
  let nowNs = 0
  const until = (isSo: () => boolean): void => {
    for (let turn = 0; turn < TURNS_MAX && !isSo(); turn += 1) {
      nowNs += TICK_NS
      timers.runDue(nowNs)
      for (const replica of replicas.values()) while (replica.turn());
    }
  }
  const leader = (): Replica | undefined => [...replicas.values()].find(({ isLeader }) => isLeader)
  try {
    for (const { id } of founding.voters)
      replicas.set(
        id,
        new Replica({
          ...{ device, id, protocol, founding, votersWanted: 3, clockMs: () => 0 },
          settings: SETTINGS,
          runtime: { now: () => nowNs, timers, random },
          events: {
            decided: () => undefined,
            say: (to, card) => replicas.get(to)?.hear(card),
            proposeAgain: () => undefined,
            snapshotWanted: () => undefined,
            restore: () => undefined,
            readable: () => undefined,
            isResponsive: () => true,
            deviates: () => undefined,
            mayTake: () => true,
          },
        }),
      )
    for (const replica of replicas.values()) for (const id of replicas.keys()) replica.meet(id)
    for (let led = 0; ; led += 1) {
      until(() => leader() !== undefined)
      const leading = leader()
      if (leading === undefined || led === LEADERS) return led
      for (const replica of replicas.values()) replica.propose(COMMAND)
      const { id, taken } = leading
      until(() => [...replicas.values()].every((replica) => replica.taken > taken))
      if (led === 0) {
        leading.close()
        replicas.delete(id)
        for (const replica of replicas.values()) replica.ended(id)
      } else leading.transfer([...replicas.keys()].find((other) => other !== id)!)
      until(() => leader() !== undefined && leader()!.id !== id)
    }
  } finally {
    for (const replica of replicas.values()) replica.close()
  }
}

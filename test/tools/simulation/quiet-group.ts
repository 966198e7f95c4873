import type { Configuration } from '../../../src/consensus/index.ts'
import { SimulatedReplica, type SimulatedReplicaOptions } from '../../../tools/simulation/replicas/simulated-replica.ts'

type Shared = Pick<SimulatedReplicaOptions, 'cluster' | 'settings' | 'askAgainNs'>

/** The founding replicas of a log, in order, each of which knows the others. Nothing happens to them by itself. */
export function openQuietGroup(
  founding: Configuration,
  shared: Shared,
  clientsOf: (id: number) => SimulatedReplicaOptions['clients'],
): SimulatedReplica[] {
  const votersWanted = founding.voters.length
  const replicas: SimulatedReplica[] = []
  for (const { id } of founding.voters)
    replicas.push(
      new SimulatedReplica({
        ...{ ...shared, id, seed: 1, founding, votersWanted, skewMs: 0, protocol: 'velos', clients: clientsOf(id) },
        say: (_, to, card) => replicas[to - 1]!.command(() => replicas[to - 1]!.replica.hear(card)),
        decided: () => 0,
        onDecided: () => undefined,
        onApplied: () => undefined,
        onTurned: () => undefined,
        onPassed: () => undefined,
      }),
    )
  for (const one of replicas)
    for (const other of replicas) if (one !== other) one.command(() => one.replica.meet(other.id))
  return replicas
}

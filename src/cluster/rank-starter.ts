import process from 'node:process'
import { makeSecret } from '../runtime/index.ts'
import { placeRanks } from './hosts/host-slots.ts'
import { Keeper } from './hosts/keeper.ts'
import { RemoteHost } from './hosts/remote-host.ts'
import { connectionLimits } from './hosts/sealed-connection.ts'
import type { LaunchPlan } from './launch-options.ts'
import type { LaunchedRank } from './launched-rank.ts'
import { RankProcess } from './rank-process.ts'
import { reclaimSpace } from './reclaim.ts'

/** The ranks of a launch, and the place where they meet. */
export interface RankStarter {
  /** All ranks, by rank. */
  readonly ranks: readonly LaunchedRank[]
  /** Connections to other hosts. */
  readonly hosts: readonly RemoteHost[]
  close(): void
}

/** What the launcher is told besides the ends of ranks. */
export interface StarterEvents {
  say(text: string): void
  /** A rank has fallen silent, but its end was not seen: its host may be gone. */
  silent(rank: number, why: string): void
}

/**
 * Start the ranks of `plan`, here or on its hosts. @throws RendezvousError if the port is not available, ArgumentError.
 */
export async function startRanks(plan: LaunchPlan, events: StarterEvents): Promise<RankStarter> {
  return plan.hosts.length === 0 ? startHere(plan) : await startOnHosts(plan, events)
}

function startHere(plan: LaunchPlan): RankStarter {
  const { space } = plan
  const meeting = { rendezvous: `local:${space}`, input: true }
  return {
    ranks: Array.from({ length: plan.ranks }, (_, rank) => new RankProcess(rank, plan, meeting)),
    hosts: [],
    close: () => {
      if (process.platform === 'linux') reclaimSpace(space)
    },
  }
}

async function startOnHosts(plan: LaunchPlan, events: StarterEvents): Promise<RankStarter> {
  const { ranks: size, script, args, nodeArguments, onFailure, ssh, remoteNode: node, address } = plan
  const shares = placeRanks(plan.hosts, size)
  const secret = makeSecret()
  const keeper = await Keeper.listen({
    secret,
    size,
    host: undefined,
    port: plan.port,
    limits: connectionLimits(),
    log: (line) => events.say(line),
    onEnd: (rank, why, silent) => {
      if (silent) events.silent(rank, why)
    },
  })
  const environment = { ...ownVariables(), ...plan.environment }
  const command = { script, args, ranks: size, nodeArguments, environment, onFailure }
  const hosts = shares.map(
    (share) => new RemoteHost(share, { ssh, node, command, host: address, port: keeper.port, secret }),
  )
  return { ranks: hosts.flatMap((host) => host.ranks), hosts, close: () => keeper.close() }
}

/** Not passed on. The host is told which rank a process is and how it meets the others; paths are the host's own. */
const OWN_OF_HOSTS: ReadonlySet<string> = new Set([
  'AETHER_RANK',
  'AETHER_SIZE',
  'AETHER_RENDEZVOUS',
  'AETHER_SECRET_FILE',
  'AETHER_RUNTIME_DIRECTORY',
  'AETHER_NATIVE',
])

/** Settings of this package are passed on; the rest of the environment is each host's own. */
function ownVariables(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('AETHER_') && !OWN_OF_HOSTS.has(name))
  return Object.fromEntries(own.map(([name, text]) => [name, text ?? '']))
}

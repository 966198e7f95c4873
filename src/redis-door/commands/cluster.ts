import { bytesOf, CommandFault, latin1Of, SLOT_COUNT, slotOf } from '../../index-service/index.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { type ClusterNode, placeText, type SlotRange } from '../routing/cluster-map.ts'
import type { DoorCommand } from './door-command.ts'

type Subcommand = (door: DoorServices, args: readonly Uint8Array[]) => DoorReply

const DISABLED = 'This instance has cluster support disabled'

const subcommands: Readonly<Record<string, { readonly arity: number; readonly run: Subcommand }>> = {
  info: { arity: 0, run: (door) => bytesOf(infoText(door)) },
  myid: { arity: 0, run: ({ cluster }) => bytesOf(cluster.self.id) },
  nodes: { arity: 0, run: (door) => bytesOf(nodesText(door)) },
  slots: { arity: 0, run: ({ cluster }) => ({ list: cluster.ranges.filter(isServed).map(slotsRow) }) },
  shards: { arity: 0, run: ({ cluster }) => ({ list: cluster.ranges.filter(isServed).map(shardRow) }) },
  links: { arity: 0, run: () => [] },
  keyslot: { arity: 1, run: (_door, [key]) => slotOf(key!) },
}

/** What clients that know clusters ask. Nodes find each other, so nothing can be changed here. */
export const cluster: readonly DoorCommand[] = [
  {
    name: 'cluster',
    arity: -2,
    run: (door, _client, [name, ...args]) => {
      const found = subcommands[latin1Of(name!).toLowerCase()]
      if (!door.settings.isCluster) throw new CommandFault(DISABLED)
      if (found === undefined)
        throw new CommandFault(
          `unknown subcommand '${latin1Of(name!).slice(0, 128)}'. Nodes of an index find each other; see CLUSTER INFO, NODES, SHARDS, SLOTS, MYID, KEYSLOT.`,
        )
      if (args.length !== found.arity)
        throw new CommandFault(`wrong number of arguments for 'cluster|${latin1Of(name!).toLowerCase()}' command`)
      return found.run(door, args)
    },
  },
  { name: 'readonly', arity: 1, run: ({ settings }, client) => setReadOnly(settings.isCluster, client, true) },
  { name: 'readwrite', arity: 1, run: ({ settings }, client) => setReadOnly(settings.isCluster, client, false) },
  // A shard that moves is held by both until it has moved, so no one is sent away for a moment.
  { name: 'asking', arity: 1, run: () => 'OK' },
]

function setReadOnly(isCluster: boolean, client: { isReadOnly: boolean }, isReadOnly: boolean): DoorReply {
  if (!isCluster) throw new CommandFault(DISABLED)
  client.isReadOnly = isReadOnly
  return 'OK'
}

function isServed({ holders }: SlotRange): boolean {
  return holders.length > 0
}

function infoText({ cluster: { ranges, nodes } }: DoorServices): string {
  const served = ranges.filter(isServed).reduce((total, { first, last }) => total + last - first + 1, 0)
  const lines = [
    `cluster_state:${served === SLOT_COUNT ? 'ok' : 'fail'}`,
    `cluster_slots_assigned:${SLOT_COUNT}`,
    `cluster_slots_ok:${served}`,
    'cluster_slots_pfail:0',
    `cluster_slots_fail:${SLOT_COUNT - served}`,
    `cluster_known_nodes:${nodes.length}`,
    `cluster_size:${nodes.length}`,
  ]
  return `${lines.join('\r\n')}\r\n`
}

/** One line for each node: those that lead nothing are shown as masters without slots. */
function nodesText({ cluster: { nodes, ranges, self } }: DoorServices): string {
  const lines = nodes.map(({ id, door, rank }) => {
    const slots = ranges
      .filter(({ holders }) => holders[0]?.rank === rank)
      .map(({ first, last }) => ` ${first}-${last}`)
    const flags = rank === self.rank ? 'myself,master' : 'master'
    return `${id} ${placeText(door)}@0 ${flags} - 0 0 0 connected${slots.join('')}\n`
  })
  return lines.join('')
}

function slotsRow({ first, last, holders }: SlotRange): DoorReply {
  return { list: [first, last, ...holders.map(nodeRow)] }
}

function nodeRow({ id, door }: ClusterNode): DoorReply {
  return { list: [bytesOf(door.address), door.port, bytesOf(id), []] }
}

function shardRow({ first, last, holders }: SlotRange): DoorReply {
  const nodes = holders.map(({ id, door }, at) => ({
    table: [
      ...[bytesOf('id'), bytesOf(id)],
      ...[bytesOf('port'), door.port],
      ...[bytesOf('ip'), bytesOf(door.address)],
      ...[bytesOf('endpoint'), bytesOf(door.address)],
      ...[bytesOf('role'), bytesOf(at === 0 ? 'master' : 'replica')],
      ...[bytesOf('replication-offset'), 0],
      ...[bytesOf('health'), bytesOf('online')],
    ],
  }))
  return { table: [bytesOf('slots'), [first, last], bytesOf('nodes'), { list: nodes }] }
}

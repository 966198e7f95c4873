import { bytesOf, CommandFault, latin1Of, SLOT_COUNT, slotOf } from '../../index-service/index.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { type ClusterNode, placeText, type SlotRange } from '../routing/cluster-map.ts'
import { integerOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

const DISABLED = 'This instance has cluster support disabled'

function inCluster(run: RunSubcommand): RunSubcommand {
  return (door, client, args) => {
    if (!door.settings.isCluster) throw new CommandFault(DISABLED)
    return run(door, client, args)
  }
}

/** Nodes find each other and slots are fixed, so nothing can be changed here. */
const subcommands: Readonly<Record<string, RunSubcommand>> = {
  info: (door) => bytesOf(infoText(door)),
  myid: ({ cluster: { self } }) => bytesOf(self.id),
  nodes: ({ cluster: { nodes, ranges, self } }) => bytesOf(nodesText(nodes, ranges, self)),
  replicas: ({ cluster: { ranges, self } }, _client, [id]) => bytesListOf(replicasOf(latin1Of(id!), ranges, self)),
  slots: ({ cluster: { ranges } }) => ({ list: ranges.filter(isServed).map(slotsRow) }),
  shards: ({ cluster: { ranges } }) => ({ list: ranges.filter(isServed).map(shardRow) }),
  links: () => [],
  keyslot: (_door, _client, [key]) => slotOf(key!),
  countkeysinslot: (door, _client, args) => askSlot(door, 'countkeysinslot', args),
  getkeysinslot: (door, _client, args) => askSlot(door, 'getkeysinslot', args),
  // Members are agreed on, so no one reports failures.
  'count-failure-reports': () => 0,
  saveconfig: () => 'OK',
}

/** What clients that know clusters ask. */
export const cluster: readonly DoorCommand[] = [
  withSubcommands({
    name: 'cluster',
    subcommands: Object.fromEntries(Object.entries(subcommands).map(([name, run]) => [name, inCluster(run)])),
  }),
  { name: 'readonly', arity: 1, run: ({ settings }, client) => setReadOnly(settings.isCluster, client, true) },
  { name: 'readwrite', arity: 1, run: ({ settings }, client) => setReadOnly(settings.isCluster, client, false) },
  // A shard that moves is held by both until it has moved, so no one is sent away for a moment.
  { name: 'asking', arity: 1, run: () => 'OK' },
]

/** Keys of a slot. A cluster has database 0 alone. */
async function askSlot({ router }: DoorServices, name: string, args: readonly Uint8Array[]): Promise<DoorReply> {
  const slot = integerOf(args[0]!, 'Invalid or out of range slot')
  if (slot < 0 || slot >= SLOT_COUNT) throw new CommandFault('Invalid or out of range slot')
  const [reply] = await router.lineOf(slot).read([{ name, args }])
  return reply!
}

function bytesListOf(texts: readonly string[]): DoorReply {
  return texts.map(bytesOf)
}

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
function nodesText(nodes: readonly ClusterNode[], ranges: readonly SlotRange[], self: ClusterNode): string {
  return nodes.map((node) => `${nodeLine(node, 'master', self)}${slotsOf(node, ranges)}\n`).join('')
}

function nodeLine({ id, door, rank }: ClusterNode, role: string, self: ClusterNode): string {
  return `${id} ${placeText(door)}@0 ${rank === self.rank ? 'myself,' : ''}${role} - 0 0 0 connected`
}

function slotsOf({ rank }: ClusterNode, ranges: readonly SlotRange[]): string {
  const led = ranges.filter(({ holders }) => holders[0]?.rank === rank)
  return led.map(({ first, last }) => ` ${first}-${last}`).join('')
}

/** Nodes that hold something which another one leads. */
function replicasOf(id: string, ranges: readonly SlotRange[], self: ClusterNode): readonly string[] {
  const led = ranges.filter(({ holders }) => holders[0]?.id === id)
  const replicas = new Map(led.flatMap(({ holders }) => holders.slice(1)).map((node) => [node.id, node]))
  return [...replicas.values()].map((node) => nodeLine(node, `slave ${id}`, self).replace(' - ', ' '))
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

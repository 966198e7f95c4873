import type {
  Frame,
  IndexFrame,
  IndexNodeFrame,
  MachineFrame,
  MemberFrame,
  RegionFrame,
  StructureFrame,
} from '../../dashboard/index.ts'
import type { Screen } from '../output/screen.ts'
import type { Column } from '../output/table.ts'
import { formatBytes, formatCount, formatRate, formatTime, processText } from '../output/units.ts'
import { busiestFirst, plainName, showStructuresTable } from '../structures/structures-table.ts'

/** More links would push everything else off the screen, so only the busiest are shown. */
const LINKS_MAX = 8
const REGIONS_MAX = 12
const STRUCTURES_MAX = 10
const MACHINES_MAX = 12
const INDEX_NODES_MAX = 12
const LOG_MAX = 5

const right = (title: string): Column => ({ title, align: 'right' })
const left = (title: string): Column => ({ title, align: 'left' })

/** Prints one look at a space, the essentials first. */
export function showTop(frame: Frame, screen: Screen): void {
  const { members, regions, structures, log } = frame
  const { paint } = screen
  const time = new Date(frame.atMs).toTimeString().slice(0, 8)
  const state = frame.running ? '' : `  ${paint('red', 'ended')}`
  const sum = (of: (member: MemberFrame) => number, all: readonly MemberFrame[] = members): number =>
    all.reduce((total, member) => total + of(member), 0)
  // Several threads of one process may be members.
  const processes = [...new Map(members.filter(isHere).map((member) => [member.processId, member])).values()]
  screen.line(
    `${paint('bold', frame.space)}  ${count(members.length, 'member')}, epoch ${frame.epoch}, ${count(regions.length, 'region')}${structures.length === 0 ? '' : `, ${count(structures.length, 'structure')}`}  ${paint('dim', time)}${state}`,
  )
  screen.line(
    `  processors ${sum(({ processors }) => processors, processes).toFixed(2)}   memory ${formatBytes(sum(({ residentBytes }) => residentBytes, processes))}   page waits ${formatRate(sum(({ waits }) => waits))}   traffic ${formatBytes(Math.round(sum(({ bytesOut }) => bytesOut)))}/s`,
  )
  screen.line()
  screen.table(
    [
      left('member'),
      right('process'),
      left('state'),
      right('cpu'),
      right('memory'),
      right('page waits'),
      right('in'),
      right('out'),
      right('wait p50'),
      right('wait p99'),
      right('regions'),
    ],
    members.map((member) => memberRow(member, screen)),
  )
  showLinks(frame, screen)
  showRegions(regions, screen)
  showStructures(structures, screen)
  showMachines(frame, screen)
  showIndexes(frame, screen)
  for (const { text } of log.slice(-LOG_MAX)) screen.line(`  ${paint('dim', text)}`)
  if (frame.lostEvents > 0) screen.line(`  ${paint('dim', `${formatCount(frame.lostEvents)} events were missed`)}`)
}

function memberRow(member: MemberFrame, { paint }: Screen): string[] {
  const waited = member.waitP50Ns > 0
  return [
    nameOf(member),
    processText(member),
    paint(member.state === 'running' ? 'green' : 'red', member.state),
    isHere(member) ? `${(100 * member.processors).toFixed(0)} %` : '-',
    isHere(member) ? formatBytes(member.residentBytes) : '-',
    formatRate(member.waits),
    `${formatBytes(Math.round(member.bytesIn))}/s`,
    `${formatBytes(Math.round(member.bytesOut))}/s`,
    waited ? formatTime(member.waitP50Ns / 1e6) : '-',
    waited ? formatTime(member.waitP99Ns / 1e6) : '-',
    String(member.regions),
  ]
}

/** Whether its process can be looked at from here. */
function isHere({ foreign }: MemberFrame): boolean {
  return foreign !== true
}

function nameOf({ rank, slot }: MemberFrame): string {
  return rank === null ? `member ${slot}` : `rank ${rank}`
}

/**
 * The ends of a link are numbers: ranks, which may run on other machines, or slots of members without a rank.
 */
function namesIn(members: readonly MemberFrame[]): (number: number) => string {
  const names = new Map(members.map((member) => [member.rank ?? member.slot, nameOf(member)]))
  return (number) => names.get(number) ?? `rank ${number}`
}

function showLinks({ links, members }: Frame, screen: Screen): void {
  const busy = links
    .filter(({ totalBytes }) => totalBytes > 0)
    .sort((a, b) => b.bytes - a.bytes || b.totalBytes - a.totalBytes)
  if (busy.length === 0) return
  const name = namesIn(members)
  screen.line()
  screen.table(
    [left('link'), right('bytes'), right('messages'), right('pages'), right('latency')],
    busy
      .slice(0, LINKS_MAX)
      .map(({ from, to, bytes, messages, pages, latencyNs }) => [
        `${name(from)} → ${name(to)}`,
        `${formatBytes(Math.round(bytes))}/s`,
        formatRate(messages),
        formatRate(pages),
        latencyNs === null ? '-' : formatTime(latencyNs / 1e6),
      ]),
  )
  more(busy.length - LINKS_MAX, 'link', screen)
}

function showRegions(regions: readonly RegionFrame[], screen: Screen): void {
  if (regions.length === 0) return
  screen.line()
  screen.table(
    [left('region'), left('coherence'), right('size'), right('pages'), left('open at')],
    regions
      .slice(0, REGIONS_MAX)
      .map(({ name, coherence, size, pages, pageBytes, openAt }) => [
        name,
        coherence,
        formatBytes(size),
        `${formatCount(pages)} of ${formatBytes(pageBytes)}`,
        openAt.length === 0 ? '-' : openAt.join(' '),
      ]),
  )
  more(regions.length - REGIONS_MAX, 'region', screen)
}

function showStructures(structures: readonly StructureFrame[], screen: Screen): void {
  if (structures.length === 0) return
  screen.line()
  showStructuresTable(busiestFirst(structures).slice(0, STRUCTURES_MAX), screen)
  more(structures.length - STRUCTURES_MAX, 'structure', screen)
}

/** Replicas of replicated state machines, by machine. */
function showMachines({ machines, members }: Frame, screen: Screen): void {
  if (machines.length === 0) return
  const name = namesIn(members)
  screen.line()
  screen.table(
    [
      left('machine'),
      left('member'),
      left('role'),
      right('term'),
      right('applied'),
      right('behind'),
      right('entries'),
      right('proposing'),
      right('fail-over'),
    ],
    machines.slice(0, MACHINES_MAX).map((machine) => machineRow(machine, name, screen)),
  )
  more(machines.length - MACHINES_MAX, 'replica', screen)
}

function machineRow(
  { name, number, leads, term, applied, behind, rate, proposing, failOver }: MachineFrame,
  nameOfNumber: (number: number) => string,
  { paint }: Screen,
): string[] {
  return [
    plainName(name),
    nameOfNumber(number),
    leads ? paint('green', 'leads') : 'follows',
    formatCount(term),
    formatCount(applied),
    behind === 0 ? '-' : formatCount(behind),
    formatRate(rate),
    formatCount(proposing),
    failOver === null ? '-' : formatTime(failOver.decidedNs / 1e6),
  ]
}

/** Nodes of indexes. */
function showIndexes({ indexes, members }: Frame, screen: Screen): void {
  if (indexes.length === 0) return
  const name = namesIn(members)
  const rows = indexes.flatMap((index) => index.nodes.map((node) => indexRow(index, node, name)))
  const titles = ['leads', 'holds', 'moving', 'keys', 'memory', 'of', 'behind', 'waiting', 'evicted', 'slow']
  screen.line()
  screen.table([left('index'), left('member'), ...titles.map(right)], rows.slice(0, INDEX_NODES_MAX))
  more(rows.length - INDEX_NODES_MAX, 'node', screen)
}

function indexRow(
  { name, shards }: IndexFrame,
  { number, bytesMax, slow, shards: held }: IndexNodeFrame,
  nameOfNumber: (number: number) => string,
): string[] {
  const sum = (of: (shard: (typeof held)[number]) => number): number => held.reduce((all, each) => all + of(each), 0)
  const moving = held.filter(({ state }) => state !== 'holds').length
  const orNone = (amount: number): string => (amount === 0 ? '-' : formatCount(amount))
  return [
    plainName(name),
    nameOfNumber(number),
    String(held.filter(({ leads }) => leads).length),
    `${held.length - moving} of ${shards}`,
    orNone(moving),
    formatCount(sum(({ keys }) => keys)),
    formatBytes(sum(({ bytesUsed }) => bytesUsed)),
    formatBytes(bytesMax),
    orNone(Math.max(0, ...held.map(({ behind }) => behind ?? 0))),
    orNone(sum(({ waiting }) => waiting)),
    orNone(sum(({ evicted }) => evicted)),
    orNone(slow),
  ]
}

function more(left: number, what: string, screen: Screen): void {
  if (left > 0) screen.line(`  ${screen.paint('dim', `and ${count(left, `more ${what}`)}`)}`)
}

function count(number: number, what: string): string {
  return `${formatCount(number)} ${what}${number === 1 ? '' : 's'}`
}

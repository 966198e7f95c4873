/** Checks of the counters of ports: errors, lost packets, congestion. They count since the driver was loaded. */
import { type Finding, ok, warn } from './finding.ts'
import type { Machine } from './machine.ts'
import { type RdmaPort, rdmaPorts } from './rdma-port.ts'

interface CounterGroup {
  readonly check: string
  readonly names: readonly string[]
  readonly meaning: string
  readonly fix: string
}

/** Names in mlx5, irdma, bnxt_re and rxe; each driver has some of them. */
const groups: readonly CounterGroup[] = [
  {
    check: 'link errors',
    names: [
      'symbol_error',
      'link_error_recovery',
      'local_link_integrity_errors',
      'excessive_buffer_overrun_errors',
      'port_rcv_errors',
    ],
    meaning: 'the link damages packets',
    fix: 'replace the cable or transceiver; ethtool -S CARD shows more',
  },
  {
    check: 'link drops',
    names: ['link_downed'],
    meaning: 'the link was lost',
    fix: 'dmesg | grep -i link; check cable, transceiver and power saving of the switch',
  },
  {
    check: 'lost packets',
    names: [
      ...['out_of_sequence', 'packet_seq_err', 'local_ack_timeout_err', 'implied_nak_seq_err', 'roce_adp_retrans'],
      ...['rcvd_seq_err', 'out_of_seq_request', 'completer_retry_err', 'retry_exceeded_err', 'port_xmit_discards'],
      ...['rx_icrc_encapsulated', 'RetransSegs', 'seq_err_naks_rcvd', 'to_retransmits'],
    ],
    meaning: 'packets were lost or arrived out of order, and were sent again',
    fix: 'priority flow control or ECN on cards and switches (mlnx_qos -i CARD, dcb pfc show dev CARD); fewer senders to one receiver',
  },
  {
    check: 'missing receives',
    names: [
      'rnr_nak_retry_err',
      'out_of_buffer',
      'rcvd_rnr_err',
      'send_rnr_err',
      'retry_rnr_exceeded_err',
      'rnr_naks_rcvd',
    ],
    meaning: 'a SEND found no posted receive, and had to wait or failed',
    fix: 'post more receives in advance, or answer faster; the limit event of a shared receive queue warns in time',
  },
  {
    check: 'congestion',
    names: [
      'np_ecn_marked_roce_packets',
      'np_cnp_sent',
      'rp_cnp_handled',
      'RxECNMrkd',
      'cnpHandled',
      'cnpSent',
      'port_xmit_wait',
    ],
    meaning: 'switches marked packets, or the port had to wait: the network is congested at times',
    fix: 'fewer senders to one receiver, pacing of senders, or more bandwidth; a few marks are harmless',
  },
]

export function checkCounters(machine: Machine): Finding[] {
  return rdmaPorts(machine).flatMap((port) => checkPort(port))
}

function checkPort(port: RdmaPort): Finding[] {
  const { counters } = port
  const known = groups.filter(({ names }) => names.some((name) => counters.has(name)))
  const bad = known.flatMap((group) => {
    const seen = group.names.filter((name) => (counters.get(name) ?? 0) > 0)
    if (seen.length === 0) return []
    const values = seen.map((name) => `${name} ${counters.get(name)}`).join(', ')
    return [warn(group.check, `${port.label}: ${group.meaning} (${values})`, cardFix(group.fix, port))]
  })
  if (bad.length > 0) return bad
  if (known.length === 0) return [ok('counters', `${port.label} has none of the known counters`)]
  return [ok('counters', `${port.label}: no ${known.map(({ check }) => check).join(', no ')}`)]
}

const cardFix = (fix: string, port: RdmaPort): string => fix.replaceAll('CARD', port.networkCard ?? 'CARD')

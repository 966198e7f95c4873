/** Checks of where the program runs in relation to its RDMA card. */
import { type Finding, ok, warn } from './finding.ts'
import type { Machine } from './machine.ts'
import { deviceText, rdmaDevices } from './rdma-port.ts'

export function checkGovernor(machine: Machine): Finding[] {
  const folder = '/sys/devices/system/cpu'
  const governors = machine
    .names(folder)
    .filter((name) => /^cpu\d+$/.test(name))
    .map((name) => machine.text(`${folder}/${name}/cpufreq/scaling_governor`))
    .filter((governor) => governor !== undefined)
  if (governors.length === 0) return [ok('governor', 'this kernel does not change CPU frequencies')]
  const kinds = [...new Set(governors)].sort()
  if (kinds.length === 1 && kinds[0] === 'performance') return [ok('governor', 'performance')]
  return [
    warn(
      'governor',
      `CPUs run with the governor ${kinds.join(' and ')}: the first microseconds after a pause are slow`,
      'cpupower frequency-set -g performance',
    ),
  ]
}

/** Memory and CPUs near the card answer sooner, because transfers do not cross the link between sockets. */
export function checkDistance(machine: Machine): Finding[] {
  return rdmaDevices(machine).flatMap((device) => {
    const node = Number(deviceText(machine, device, 'numa_node') ?? -1)
    if (node < 0) return [ok('numa', `${device} is equally far from all CPUs, or the machine does not say`)]
    const near = parseList(machine.text(`/sys/devices/system/node/node${node}/cpulist`) ?? '')
    const allowed = parseList(/^Cpus_allowed_list:\s+(\S+)/m.exec(machine.text('/proc/self/status') ?? '')?.[1] ?? '')
    const bind = `numactl --cpunodebind=${node} --membind=${node} node app.js`
    if (near.size === 0 || [...allowed].every((cpu) => near.has(cpu)))
      return [ok('numa', `${device} is on node ${node}, and so are the CPUs of this program`)]
    if ([...allowed].some((cpu) => near.has(cpu)))
      return [
        warn(
          'numa',
          `${device} is on node ${node}; this program may also run elsewhere${distance(machine, node)}`,
          bind,
        ),
      ]
    return [
      warn(
        'numa',
        `${device} is on node ${node}; this program runs on other nodes only${distance(machine, node)}`,
        bind,
      ),
    ]
  })
}

/** The distance to the farthest node, in the units of the firmware's table: 10 is local, 20 takes twice as long. */
function distance(machine: Machine, node: number): string {
  const row = machine.text(`/sys/devices/system/node/node${node}/distance`)?.split(/\s+/).map(Number) ?? []
  const farthest = Math.max(...row)
  return farthest > 10 ? `, at distance ${farthest} where 10 is local` : ''
}

/** `0-3,8` -> 0, 1, 2, 3, 8. */
export function parseList(text: string): ReadonlySet<number> {
  const cpus = new Set<number>()
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [first, last = first] = part.split('-').map(Number) as [number, number?]
    for (let cpu = first; cpu <= last; cpu += 1) cpus.add(cpu)
  }
  return cpus
}

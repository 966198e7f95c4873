/** Checks of what a process may use of the machine. */
import { formatBytes } from '../output/units.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import type { Machine } from './machine.ts'
import { rdmaDevices } from './rdma-port.ts'

const MEMLOCK_COMFORTABLE = 1 << 30
const MEMLOCK_LEAST = 8 << 20
const FILES_COMFORTABLE = 4096
const MEMORY_LEAST = 512 << 20
const SHARED_MEMORY_LEAST = 64 << 20

/** The soft limit of a line of /proc/self/limits; Infinity for unlimited. */
function softLimit(machine: Machine, name: string): number | undefined {
  const line = machine.text('/proc/self/limits')?.match(new RegExp(`^${name}\\s+(\\S+)`, 'm'))?.[1]
  if (line === undefined) return undefined
  return line === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line)
}

/** RDMA cards access memory directly, so registered memory is locked in place. */
export function checkLockedMemory(machine: Machine): Finding[] {
  const limit = softLimit(machine, 'Max locked memory')
  if (limit === undefined) return []
  if (limit === Number.POSITIVE_INFINITY) return [ok('memlock', 'unlimited')]
  if (limit >= MEMLOCK_COMFORTABLE || rdmaDevices(machine).length === 0)
    return [ok('memlock', `${formatBytes(limit)} may be locked`)]
  const text = `only ${formatBytes(limit)} may be locked; registering memory with an RDMA card counts against it`
  const fix =
    'ulimit -l unlimited; permanently: echo "* - memlock unlimited" > /etc/security/limits.d/rdma.conf and log in again; for a service: LimitMEMLOCK=infinity'
  const isShort = limit < MEMLOCK_LEAST && !machine.facts.isRoot
  return [isShort ? fail('memlock', text, fix) : warn('memlock', text, fix)]
}

export function checkOpenFiles(machine: Machine): Finding[] {
  const limit = softLimit(machine, 'Max open files')
  if (limit === undefined) return []
  if (limit >= FILES_COMFORTABLE) return [ok('nofile', `${limit} files may be open`)]
  return [
    warn(
      'nofile',
      `only ${limit} files may be open; every peer and every completion channel needs one`,
      'ulimit -n 65536; permanently: in /etc/security/limits.d/; for a service: LimitNOFILE=65536',
    ),
  ]
}

/** The engine gives each region with views 10 GiB of addresses; only what is used of them has memory. */
export function checkAddressSpace(machine: Machine): Finding[] {
  const limit = softLimit(machine, 'Max address space')
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return []
  return [
    warn(
      'address space',
      `this process may use ${formatBytes(limit)} of addresses; each region with views takes 10 GiB of them`,
      'ulimit -v unlimited; under Slurm: VSizeFactor=0 in slurm.conf',
    ),
  ]
}

export function checkHugePages(machine: Machine): Finding[] {
  const folder = '/sys/kernel/mm/hugepages'
  const pools = machine.names(folder).flatMap((name) => {
    const bytes = Number(/hugepages-(\d+)kB/.exec(name)?.[1]) * 1024
    const count = Number(machine.text(`${folder}/${name}/nr_hugepages`))
    return count > 0
      ? [`${machine.text(`${folder}/${name}/free_hugepages`)} of ${count} of ${formatBytes(bytes)} free`]
      : []
  })
  if (pools.length > 0) return [ok('hugepages', pools.join(', '))]
  return [
    ok('hugepages', 'none reserved; memory with { pageBytes } of 2 MiB needs them (sysctl -w vm.nr_hugepages=512)'),
  ]
}

export function checkMemory(machine: Machine): Finding[] {
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(machine.text('/proc/meminfo') ?? '')?.[1]
  if (kilobytes === undefined) return []
  const available = Number(kilobytes) * 1024
  const findings = [
    available < MEMORY_LEAST
      ? warn('memory', `only ${formatBytes(available)} are available`, 'end other programs, or use smaller regions')
      : ok('memory', `${formatBytes(available)} are available`),
  ]
  const shared = machine.facts.sharedMemoryFreeBytes
  if (shared !== undefined && shared < SHARED_MEMORY_LEAST)
    findings.push(
      warn(
        'shared memory',
        `/dev/shm has ${formatBytes(shared)} left`,
        'mount -o remount,size=50% /dev/shm; for a container: docker run --shm-size=4g',
      ),
    )
  return findings
}

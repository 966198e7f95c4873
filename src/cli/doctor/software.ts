/** Checks of installed software and loaded modules. */
import { type Finding, fail, ok, warn } from './finding.ts'
import type { Machine } from './machine.ts'
import { rdmaDevices } from './rdma-port.ts'

const verbsModules = ['ib_core', 'ib_uverbs']
/** Of a PCI device: network controller, InfiniBand. */
const INFINIBAND_CLASS = '0x0207'
const connectionModules = ['rdma_cm', 'rdma_ucm']

export function checkAddon({ facts }: Machine): Finding[] {
  if (facts.addonRefused !== undefined) return [fail('addon', facts.addonRefused, 'npm rebuild aether-dsm')]
  return [ok('addon', `loaded into Node.js ${facts.node}, Linux ${facts.kernel}`)]
}

/** Whether a card or a module says that RDMA is wanted. Where none does, nothing about RDMA is a warning. */
function wantsRdma(machine: Machine): boolean {
  const pci = '/sys/bus/pci/devices'
  const hasCard = machine
    .names(pci)
    .some((slot) => (machine.text(`${pci}/${slot}/class`) ?? '').startsWith(INFINIBAND_CLASS))
  return hasCard || rdmaDevices(machine).length > 0 || verbsModules.some((name) => isLoaded(machine, name))
}

function isLoaded(machine: Machine, name: string): boolean {
  return machine.text('/proc/modules')?.match(`(^|\n)${name} `) != null
}

export function checkModules(machine: Machine): Finding[] {
  if (!wantsRdma(machine)) return []
  // A module that is built into the kernel is not listed in /proc/modules; its devices or its control file show it.
  const areLoaded = (names: readonly string[]): boolean => names.every((name) => isLoaded(machine, name))
  const hasVerbs = areLoaded(verbsModules) || rdmaDevices(machine).length > 0
  const hasConnections = areLoaded(connectionModules) || machine.access('/dev/infiniband/rdma_cm') !== 'missing'
  if (!hasVerbs)
    return [
      warn(
        'modules',
        'the kernel has no RDMA modules loaded: machines are connected over TCP (tcp0) only',
        'modprobe -a ib_uverbs rdma_ucm, and the driver of the card (mlx5_ib, irdma, bnxt_re, rdma_rxe, …)',
      ),
    ]
  if (!hasConnections)
    return [
      warn(
        'modules',
        'ib_uverbs is loaded but rdma_ucm is not: the connection manager cannot be used',
        'modprobe rdma_ucm',
      ),
    ]
  return [ok('modules', [...verbsModules, ...connectionModules].join(', '))]
}

export function checkDevices(machine: Machine): Finding[] {
  const devices = rdmaDevices(machine)
  if (devices.length > 0) return [ok('devices', devices.join(', '))]
  const text = 'no RDMA device: machines are connected over TCP (tcp0)'
  const inSoftware = 'modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0'
  return wantsRdma(machine)
    ? [warn('devices', text, `RDMA in software over any network card: ${inSoftware}`)]
    : [ok('devices', `${text}; to try RDMA without a card: ${inSoftware}`)]
}

/** Every device has its own file. The connection manager has one for all devices. */
export function checkPermissions(machine: Machine): Finding[] {
  if (rdmaDevices(machine).length === 0) return []
  const files = machine.names('/dev/infiniband').filter((name) => /^(uverbs\d+|rdma_cm)$/.test(name))
  if (files.length === 0)
    return [
      fail(
        'permissions',
        'there are RDMA devices but no files in /dev/infiniband; a container needs them passed in',
        'modprobe ib_uverbs; for a container: docker run --device /dev/infiniband --ulimit memlock=-1',
      ),
    ]
  const denied = files.filter((name) => machine.access(`/dev/infiniband/${name}`) !== 'granted')
  if (denied.length > 0)
    return [
      fail(
        'permissions',
        `${machine.facts.user} may not open ${denied.map((name) => `/dev/infiniband/${name}`).join(', ')}`,
        `usermod -aG rdma ${machine.facts.user} if the files belong to the group rdma (ls -l /dev/infiniband), then log in again; otherwise a udev rule: KERNEL=="uverbs*", MODE="0666"`,
      ),
    ]
  return [ok('permissions', `${machine.facts.user} may open ${files.join(', ')}`)]
}

export function checkVerbsLibrary(machine: Machine): Finding[] {
  if (machine.facts.noVerbs === undefined || rdmaDevices(machine).length === 0) return []
  return [fail('verbs library', machine.facts.noVerbs)]
}

export function checkUserfault({ facts }: Machine): Finding[] {
  if (facts.userfaultRefused === undefined) return [ok('userfaultfd', 'coherent views are available')]
  return [
    warn(
      'userfaultfd',
      `no coherent views, only explicit calls: ${facts.userfaultRefused}`,
      'use Linux 6.4 or later, and a seccomp profile that allows userfaultfd',
    ),
  ]
}

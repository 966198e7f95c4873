import { checkCounters } from './counters.ts'
import type { Finding } from './finding.ts'
import { checkAddressSpace, checkHugePages, checkLockedMemory, checkMemory, checkOpenFiles } from './limits.ts'
import type { Machine } from './machine.ts'
import { checkDistance, checkGovernor } from './placement.ts'
import { checkAddresses, checkPacing, checkPortStates, checkSpeeds } from './ports.ts'
import {
  checkAddon,
  checkDevices,
  checkModules,
  checkPermissions,
  checkUserfault,
  checkVerbsLibrary,
} from './software.ts'

/** In the order in which a person would check: software, permissions, links, then performance. */
const checks: readonly ((machine: Machine) => Finding[])[] = [
  ...[checkAddon, checkModules, checkDevices, checkPermissions, checkVerbsLibrary],
  ...[checkLockedMemory, checkOpenFiles, checkAddressSpace, checkMemory, checkHugePages, checkUserfault],
  ...[checkPortStates, checkSpeeds, checkAddresses, checkCounters, checkPacing],
  ...[checkGovernor, checkDistance],
]

/** All findings about a machine. */
export function examine(machine: Machine): Finding[] {
  return checks.flatMap((check) => check(machine))
}

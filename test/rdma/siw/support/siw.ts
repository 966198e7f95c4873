/** The kernel's software iWARP in a guest: siw0, on the network interface that has the guest's address. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** A folder of scripts/rdma-guest/siw.mjs. */
const modules = process.env['AETHER_SIW_MODULES'] ?? ''
export const siwAddress: string = process.env['AETHER_RDMA_ADDRESS'] ?? ''
/** A second address of the same machine, to which the first is another. */
export const otherAddress = '10.9.0.9'

/** Called once in a guest. soft-RoCE has the same address, by which rdma_cm finds a device, so it goes. */
export function makeSiw(): void {
  const run = (command: string, ...words: readonly string[]): unknown => execFileSync(command, words)
  run('rdma', 'link', 'delete', 'rxe0')
  const order = readFileSync(join(modules, 'order'), 'utf8').trim().split('\n')
  for (const file of order) run('insmod', join(modules, file))
  run('rdma', 'link', 'add', 'siw0', 'type', 'siw', 'netdev', 'veth0')
  run('ip', 'addr', 'add', `${otherAddress}/24`, 'dev', 'veth0')
}

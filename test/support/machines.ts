import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Networks } from './networks.ts'

/** Where a process of a machine begins: what RankProcess takes. */
export interface MachinePlace {
  readonly environment: Readonly<Record<string, string>>
  readonly under: readonly string[]
}

/**
 * Machines, as far as programs can tell: each has a network, process numbers and a runtime directory. They share a
 * secret. `seeds` of them have the address of a seed.
 */
export class Machines implements Disposable {
  readonly networks: Networks
  readonly seeds: readonly string[]
  readonly folder: string
  readonly secretFile: string
  /** Of each machine, a process that keeps its process numbers. */
  readonly #keepers: readonly ChildProcess[]

  /** Why they cannot be made here; false where they can. */
  static reasonAgainst(): string | false {
    return Networks.reasonAgainst()
  }

  constructor(count: number, seeds: number = count) {
    this.networks = Networks.make(count)
    this.seeds = this.networks.addresses.slice(0, seeds).map((address) => `${address}:7471`)
    this.folder = mkdtempSync(join(tmpdir(), 'aether-test-machines-'))
    this.secretFile = join(this.folder, 'secret')
    writeFileSync(this.secretFile, 'a secret of at least thirty-two bytes', { mode: 0o600 })
    const keep = ['--pid', '--fork', '--kill-child', '--mount-proc', 'sleep', 'infinity']
    this.#keepers = this.networks.names.map((network, machine) => {
      this.#nameAll(network, machine)
      const [command = '', ...words] = this.networks.in(machine)
      return spawn(command, [...words, 'unshare', ...keep], { stdio: 'ignore' })
    })
  }

  /** The seeds, by the names of machines. To itself each is 127.0.1.1. */
  get namedSeeds(): readonly string[] {
    return this.seeds.map((_, machine) => `machine-${machine}:7471`)
  }

  /** ip-netns(8) puts this file in the place of /etc/hosts. */
  #nameAll(network: string, own: number): void {
    const addresses = this.networks.addresses.map((address, machine) => (machine === own ? '127.0.1.1' : address))
    mkdirSync(hostsOf(network), { recursive: true })
    const lines = ['127.0.0.1 localhost', ...addresses.map((address, machine) => `${address} machine-${machine}`)]
    writeFileSync(join(hostsOf(network), 'hosts'), `${lines.join('\n')}\n`)
  }

  /** What `join()` takes. */
  get joinOptions(): { readonly seeds: readonly string[]; readonly secretFile: string } {
    return { seeds: this.seeds, secretFile: this.secretFile }
  }

  /** A signal reaches what runs there only if it is SIGKILL. */
  async place(machine: number): Promise<MachinePlace> {
    const directory = join(this.folder, String(machine))
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const first = await childOf(this.#keepers[machine]!.pid!)
    const inNumbers = ['nsenter', '--target', first, '--pid', '--mount', 'setpriv', '--pdeathsig', 'KILL']
    const under = [...this.networks.in(machine), ...inNumbers]
    return { environment: { AETHER_RUNTIME_DIRECTORY: directory }, under }
  }

  [Symbol.dispose](): void {
    for (const keeper of this.#keepers) keeper.kill('SIGKILL')
    this.networks[Symbol.dispose]()
    for (const folder of [this.folder, ...this.networks.names.map(hostsOf)])
      rmSync(folder, { recursive: true, force: true })
  }
}

const hostsOf = (network: string): string => join('/etc/netns', network)

async function childOf(processId: number): Promise<string> {
  for (;;) {
    const children = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim()
    if (children !== '') return children
    await sleep(1)
  }
}

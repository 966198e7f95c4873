import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Machines } from '../../support/machines.ts'
import { RankProcess } from '../../support/rank-process.ts'
import type { SmallDisks } from '../../support/small-disks.ts'

/** Much, for busy machines, and shorter than nodes are stopped for. */
const LEASE_MS = 4000
const PORT = 7500

/** Where nodes and clients of a torture run: on one machine, or each node on one of its own. */
export class TortureGround {
  readonly folder: string
  readonly machines: Machines | undefined
  /** Those of nodes of one machine. */
  readonly disks: SmallDisks | undefined
  readonly #started: RankProcess[] = []

  /** Of several machines, clients take turns on the last one, which has no node, and on the first. */
  constructor(machines?: Machines, disks?: SmallDisks) {
    this.machines = machines
    this.disks = disks
    this.folder = mkdtempSync(join(tmpdir(), 'aether-index-torture-'))
  }

  /** How many machines have nodes; undefined: all run on one. */
  get nodePlaces(): number | undefined {
    return this.machines && this.machines.networks.names.length - 1
  }

  async startNode(fixture: URL, place: number): Promise<RankProcess> {
    return await this.#start(fixture, this.machines && place)
  }

  async startClient(fixture: URL, number: number): Promise<RankProcess> {
    return await this.#start(fixture, this.machines && (number % 2 === 0 ? this.nodePlaces! : 0))
  }

  get joinOptions(): object {
    return this.machines?.joinOptions ?? {}
  }

  openOptions(place: number): object {
    return this.machines === undefined ? {} : { listen: `${this.machines.networks.addresses[place]}:${PORT}` }
  }

  /** Where clients find nodes; undefined: by themselves. */
  get connectOptions(): object | undefined {
    const places = this.machines?.networks.addresses.slice(0, this.nodePlaces)
    return places && { addresses: places.map((address) => `${address}:${PORT}`) }
  }

  async end(): Promise<void> {
    await Promise.all(this.#started.map((each) => each.kill()))
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #start(fixture: URL, machine: number | undefined): Promise<RankProcess> {
    const here = { environment: {}, under: this.disks?.under ?? [] }
    const { environment, under } = machine === undefined ? here : await this.machines!.place(machine)
    const secret = this.machines && { AETHER_SECRET_FILE: this.machines.secretFile }
    const started = new RankProcess(fixture, { ...environment, ...secret, AETHER_LEASE_MS: String(LEASE_MS) }, under)
    this.#started.push(started)
    return started
  }
}

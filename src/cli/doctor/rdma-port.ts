import type { Machine } from './machine.ts'

const devicesFolder = '/sys/class/infiniband'

/** A port of an RDMA device, from /sys. */
export class RdmaPort {
  readonly device: string
  readonly port: string
  readonly #machine: Machine

  constructor(machine: Machine, device: string, port: string) {
    this.#machine = machine
    this.device = device
    this.port = port
  }

  get label(): string {
    return `${this.device} port ${this.port}`
  }

  /** A file of the port's folder, for example `state`. */
  text(name: string): string | undefined {
    return this.#machine.text(`${devicesFolder}/${this.device}/ports/${this.port}/${name}`)
  }

  names(folder: string): readonly string[] {
    return this.#machine.names(`${devicesFolder}/${this.device}/ports/${this.port}/${folder}`)
  }

  /** `4: ACTIVE` -> `ACTIVE`. */
  get state(): string {
    return afterColon(this.text('state') ?? '') || 'UNKNOWN'
  }

  get physicalState(): string {
    return afterColon(this.text('phys_state') ?? '') || 'unknown'
  }

  /** Its device is an RNIC: `node_type` is 4. */
  get isIwarp(): boolean {
    return /^4:/.test(this.#machine.text(`${devicesFolder}/${this.device}/node_type`) ?? '')
  }

  get isEthernet(): boolean {
    return this.text('link_layer') === 'Ethernet'
  }

  /** The network card of a RoCE port. */
  get networkCard(): string | undefined {
    for (const index of this.names('gid_attrs/ndevs')) {
      const name = this.text(`gid_attrs/ndevs/${index}`)
      if (name !== undefined && name !== '') return name
    }
    return undefined
  }

  /** Gids in use, each with its type: `RoCE v2`, `IB/RoCE v1`. */
  get gids(): readonly { readonly index: number; readonly gid: string; readonly type: string }[] {
    return this.names('gids')
      .map((index) => ({
        index: Number(index),
        gid: this.text(`gids/${index}`) ?? '',
        type: this.text(`gid_attrs/types/${index}`) ?? '',
      }))
      .filter(({ gid }) => /[1-9a-f]/i.test(gid))
      .sort((a, b) => a.index - b.index)
  }

  /** Counters of both folders, by name. */
  get counters(): ReadonlyMap<string, number> {
    const counters = new Map<string, number>()
    for (const folder of ['counters', 'hw_counters']) {
      for (const name of this.names(folder)) {
        const value = Number(this.text(`${folder}/${name}`))
        if (Number.isFinite(value)) counters.set(name, value)
      }
    }
    return counters
  }
}

export function rdmaDevices(machine: Machine): readonly string[] {
  return machine.names(devicesFolder)
}

export function rdmaPorts(machine: Machine): readonly RdmaPort[] {
  return rdmaDevices(machine).flatMap((device) =>
    machine.names(`${devicesFolder}/${device}/ports`).map((port) => new RdmaPort(machine, device, port)),
  )
}

/** A file of the PCI or virtual device of an RDMA device. */
export function deviceText(machine: Machine, device: string, name: string): string | undefined {
  return machine.text(`${devicesFolder}/${device}/device/${name}`)
}

const afterColon = (text: string): string => text.replace(/^\d+:\s*/, '')

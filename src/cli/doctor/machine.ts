/**
 * What the checks may ask of a machine: files of /proc, /sys and /dev, and a few facts. A recorded one answers as the
 * live one did.
 */
export interface Machine {
  /** A small file without the white space around it; undefined where it is missing or cannot be read. */
  text(path: string): string | undefined
  /** Names in a folder, sorted; none where it is missing. */
  names(path: string): readonly string[]
  /** Whether this user may open the file for reading and writing. */
  access(path: string): Access
  readonly facts: MachineFacts
}

export type Access = 'granted' | 'denied' | 'missing'

/** What only a running program can tell. */
export interface MachineFacts {
  readonly user: string
  readonly isRoot: boolean
  readonly kernel: string
  readonly node: string
  /** Why the addon cannot be loaded. */
  readonly addonRefused?: string
  /** Why there are no ibverbs devices, in the provider's words; they name the fix. */
  readonly noVerbs?: string
  /** What devices can limit a queue pair to, by their own statement, in kbit/s; 0 for those that cannot. */
  readonly pacingKilobitsPerSecond?: Readonly<Record<string, number>>
  /** Why coherent views cannot be had. */
  readonly userfaultRefused?: string
  /** What /dev/shm has left, in bytes. */
  readonly sharedMemoryFreeBytes?: number
}

/** Answers of a machine, in JSON; `aether doctor --record` writes it, tests read it. */
export interface Recording {
  readonly facts: MachineFacts
  readonly files: Readonly<Record<string, string>>
  readonly access: Readonly<Record<string, Access>>
}

/** A machine from a file. What was not recorded is missing. Folders are known by the files in them. */
export class RecordedMachine implements Machine {
  readonly facts: MachineFacts
  readonly #recording: Recording

  constructor(recording: Recording) {
    this.facts = recording.facts
    this.#recording = recording
  }

  text(path: string): string | undefined {
    return this.#recording.files[path]
  }

  names(path: string): readonly string[] {
    const { files, access } = this.#recording
    const prefix = `${path}/`
    const present = Object.keys(access).filter((each) => access[each] !== 'missing')
    const inside = [...Object.keys(files), ...present].filter((each) => each.startsWith(prefix))
    return [...new Set(inside.map((each) => each.slice(prefix.length).split('/')[0]!))].sort()
  }

  access(path: string): Access {
    return this.#recording.access[path] ?? 'missing'
  }
}

/** Passes questions on and keeps the answers. */
export class RecordingMachine implements Machine {
  readonly facts: MachineFacts
  readonly #machine: Machine
  readonly #files: Record<string, string> = {}
  readonly #access: Record<string, Access> = {}

  constructor(machine: Machine) {
    this.#machine = machine
    this.facts = machine.facts
  }

  text(path: string): string | undefined {
    const text = this.#machine.text(path)
    if (text !== undefined) this.#files[path] = text
    return text
  }

  names(path: string): readonly string[] {
    return this.#machine.names(path)
  }

  access(path: string): Access {
    const access = this.#machine.access(path)
    this.#access[path] = access
    return access
  }

  get recording(): Recording {
    return { facts: this.facts, files: this.#files, access: this.#access }
  }
}

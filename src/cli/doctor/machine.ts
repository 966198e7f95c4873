/**
 * What the checks may ask of a machine: files of /proc, /sys and /dev, and a few facts. A recorded machine answers as
 * the live one did.
 */
export interface Machine {
  /** The text of a small file, trimmed; undefined if it is missing or cannot be read. */
  text(path: string): string | undefined
  /** Names in a folder, sorted; empty if the folder is missing. */
  names(path: string): readonly string[]
  /** Whether this user may open the file for reading and writing. */
  access(path: string): Access
  readonly facts: MachineFacts
}

export type Access = 'granted' | 'denied' | 'missing'

/** Facts that only a running program can find out. */
export interface MachineFacts {
  readonly user: string
  readonly isRoot: boolean
  readonly kernel: string
  readonly node: string
  /** Why the addon cannot be loaded. */
  readonly addonRefused?: string
  /** Why there are no ibverbs devices: the provider's message, which names the fix. */
  readonly noVerbs?: string
  /** The highest rate to which each device says it can limit a queue pair, in kbit/s; 0 if it cannot. */
  readonly pacingKilobitsPerSecond?: Readonly<Record<string, number>>
  /** Why coherent views are not available. */
  readonly userfaultRefused?: string
  /** Free space in /dev/shm, in bytes. */
  readonly sharedMemoryFreeBytes?: number
}

/** Answers of a machine as JSON. `aether doctor --record` writes them, tests read them. */
export interface Recording {
  readonly facts: MachineFacts
  readonly files: Readonly<Record<string, string>>
  readonly access: Readonly<Record<string, Access>>
}

/** A machine from a file. What was not recorded is missing. Folders exist if a file in them was recorded. */
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

/** Passes questions on to a machine and records its answers. */
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

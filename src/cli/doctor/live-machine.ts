import { accessSync, constants, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { release, userInfo } from 'node:os'
import type { VerbsAddon } from '../../native/index.ts'
import type { Access, Machine, MachineFacts } from './machine.ts'

/** The machine that this process runs on. */
export class LiveMachine implements Machine {
  readonly facts: MachineFacts

  private constructor(facts: MachineFacts) {
    this.facts = facts
  }

  static async inspect(): Promise<LiveMachine> {
    return new LiveMachine({ ...ownFacts(), ...(await addonFacts()) })
  }

  text(path: string): string | undefined {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return undefined
    }
  }

  names(path: string): readonly string[] {
    try {
      return readdirSync(path).sort()
    } catch {
      return []
    }
  }

  access(path: string): Access {
    try {
      accessSync(path, constants.R_OK | constants.W_OK)
      return 'granted'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'denied'
    }
  }
}

function ownFacts(): MachineFacts {
  const { username, uid } = userInfo()
  return {
    user: username,
    isRoot: uid === 0,
    kernel: release(),
    node: process.version,
    ...sharedMemory(),
  }
}

function sharedMemory(): Pick<MachineFacts, 'sharedMemoryFreeBytes'> {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return { sharedMemoryFreeBytes: bavail * bsize }
  } catch {
    return {}
  }
}

type AddonFacts = Pick<MachineFacts, 'addonRefused' | 'noVerbs' | 'userfaultRefused' | 'pacingKilobitsPerSecond'>

/** Tries out the addon. It is imported here, so that a machine without the addon still gets its report. */
async function addonFacts(): Promise<AddonFacts> {
  try {
    const [{ native }, { probeUserfault }] = await Promise.all([
      import('../../native/index.ts'),
      import('../../dsm/index.ts'),
    ])
    const verbs = await verbsFacts()
    const probe = probeUserfault()
    if ('refused' in probe) return { ...verbs, userfaultRefused: probe.refused.message }
    native.closeDescriptor(probe.descriptor)
    return verbs
  } catch (error) {
    return { addonRefused: error instanceof Error ? error.message : String(error) }
  }
}

async function verbsFacts(): Promise<AddonFacts> {
  const [{ verbsAddon }, { ibverbsStatus }] = await Promise.all([
    import('../../native/index.ts'),
    import('../../providers/index.ts'),
  ])
  const status = ibverbsStatus()
  const verbs = verbsAddon()
  if (status.state !== 'ready' || verbs === undefined) return { noVerbs: status.message }
  return { pacingKilobitsPerSecond: Object.fromEntries(verbs.deviceNames().flatMap((name) => pacingOf(verbs, name))) }
}

/** Empty for a device that cannot be opened: the check of permissions reports it. */
function pacingOf(verbs: VerbsAddon, name: string): [string, number][] {
  try {
    const { handle } = verbs.openDevice(name)
    const { maxPacingKilobitsPerSecond } = verbs.queryDevice(handle)
    verbs.destroy(handle)
    return [[name, maxPacingKilobitsPerSecond]]
  } catch {
    return []
  }
}

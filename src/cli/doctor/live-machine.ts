import { accessSync, constants, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { release, userInfo } from 'node:os'
import type { Access, Machine, MachineFacts } from './machine.ts'

/** The machine that we run on. */
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

/** Asked of the addon by doing. Imported here, so that a machine without the addon still gets its report. */
async function addonFacts(): Promise<Pick<MachineFacts, 'addonRefused' | 'noVerbs' | 'userfaultRefused'>> {
  try {
    const [{ native }, { probeUserfault }] = await Promise.all([
      import('../../native/index.ts'),
      import('../../dsm/index.ts'),
    ])
    const probe = probeUserfault()
    if ('refused' in probe) return { userfaultRefused: probe.refused.message }
    native.closeDescriptor(probe.descriptor)
    return {}
  } catch (error) {
    return { addonRefused: error instanceof Error ? error.message : String(error) }
  }
}
